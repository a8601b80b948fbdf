"""What tokens cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.llm.prices import PriceList


def test_the_longest_fitting_name_counts() -> None:
    prices = PriceList.read()

    assert prices.cost_usd("openai/gpt-4.1-mini-2025-04-14", prompt_tokens=1_000_000, completion_tokens=0) == 0.40
    assert prices.cost_usd("azure/gpt-4.1", prompt_tokens=0, completion_tokens=1_000_000) == 8.00


def test_a_model_without_a_price_costs_nothing() -> None:
    assert PriceList.read().cost_usd("openai/house-model", prompt_tokens=5, completion_tokens=5) == 0.0


def test_an_own_list_adds_and_replaces(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text('["house-model"]\ninput = 1\noutput = 2\n["gpt-4.1"]\ninput = 9\noutput = 9\n')
    prices = PriceList.read(own)

    assert prices.cost_usd("openai/house-model", prompt_tokens=1_000_000, completion_tokens=1_000_000) == 3.0
    assert prices.cost_usd("openai/gpt-4.1", prompt_tokens=1_000_000, completion_tokens=0) == 9.0
    assert prices.cost_usd("openai/gpt-4o", prompt_tokens=1_000_000, completion_tokens=0) == 2.5


@pytest.mark.parametrize("text", ["not toml [", '["m"]\ninput = 1\n', "m = 3\n", '["m"]\ninput = "x"\noutput = 1\n'])
def test_a_broken_list_is_told_by_its_name(tmp_path: Path, text: str) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(text)

    with pytest.raises(ValueError, match=r"prices\.toml"):
        PriceList.read(own)
