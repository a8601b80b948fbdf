"""Large bodies are cut along their structure, and what was cut is counted."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import JsonValue
from workers.formatting.evidence import LONGEST_STRING, gather

JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=20), inner, max_size=6),
    max_leaves=30,
)


@given(JSONS)
def test_a_small_body_comes_back_equal(body: object) -> None:
    evidence = gather(body, max_bytes=1_000_000)  # type: ignore[arg-type]

    assert evidence.body == body
    assert not evidence.totals


def test_the_first_items_stay_and_the_total_is_known() -> None:
    rows = [{"n": number, "name": "x" * 50} for number in range(3412)]

    evidence = gather({"rows": rows}, max_bytes=10_000)

    assert isinstance(evidence.body, dict)
    kept = evidence.body["rows"]
    assert isinstance(kept, list)
    assert kept[:100] == rows[:100]
    assert evidence.totals == {"rows": 3412}
    assert evidence.is_cut


def test_what_is_kept_fits_the_budget() -> None:
    body = {f"key{number}": ["ö" * 100] * 20 for number in range(200)}

    kept = gather(body, max_bytes=20_000).body  # type: ignore[arg-type]

    assert len(json.dumps(kept, ensure_ascii=False).encode()) <= 21_000


def test_a_long_text_ends_at_a_word_and_says_that_it_was_cut() -> None:
    kept = gather("sõna " * 5_000).body

    assert isinstance(kept, str)
    assert kept.endswith(" sõna…")
    assert 3_000 < len(kept.encode()) <= LONGEST_STRING


def test_a_long_text_without_words_is_never_cut_inside_a_character() -> None:
    kept = gather("õ" * 5_000).body

    assert kept == "õ" * ((LONGEST_STRING - 5) // 2) + "…"


@pytest.mark.parametrize("room", range(500, 700))
def test_no_value_is_cut_in_its_middle_and_no_row_loses_a_field(room: int) -> None:
    rows = [{"code": f"AB{number:06}", "price": 123_456, "tags": ["new", "red"]} for number in range(50)]
    body: JsonValue = {"about": {"source": "register"}, "rows": list(rows)}

    evidence = gather(body, max_bytes=room)

    assert isinstance(evidence.body, dict)
    kept = evidence.body["rows"]
    assert isinstance(kept, list)
    assert len(kept) > 3
    assert [without_tags(row) for row in kept] == [without_tags(row) for row in rows[: len(kept)]]
    assert evidence.totals["rows"] == 50
    for place, row in enumerate(kept):
        is_told = f"rows.{place}.tags" in evidence.totals
        assert is_told or (isinstance(row, dict) and row["tags"] == ["new", "red"])


def without_tags(row: JsonValue) -> JsonValue:
    return {key: value for key, value in row.items() if key != "tags"} if isinstance(row, dict) else row


@given(JSONS, st.integers(min_value=1, max_value=300))
def test_every_value_that_is_kept_stands_in_the_body_as_it_is(body: JsonValue, room: int) -> None:
    evidence = gather(body, max_bytes=room)

    assert is_part(evidence.body, body) or evidence.body is None


def is_part(kept: JsonValue, body: JsonValue) -> bool:
    if isinstance(kept, list) and isinstance(body, list):
        return len(kept) <= len(body) and all(map(is_part, kept, body))
    if isinstance(kept, dict) and isinstance(body, dict):
        return all(key in body and is_part(value, body[key]) for key, value in kept.items())
    # What lies too deep is left out.
    return kept == body or (kept is None and isinstance(body, list | dict))


def test_rows_behind_a_page_of_facts_about_them_are_cut_and_counted() -> None:
    rows: list[JsonValue] = [{"year": year, "value": 1.5} for year in range(5_000)]

    evidence = gather([{"page": 1, "pages": 1}, rows])

    assert isinstance(evidence.body, list)
    assert isinstance(evidence.body[1], list)
    assert evidence.body[1] == rows[: len(evidence.body[1])]
    assert evidence.totals == {"1": 5_000}


def test_a_first_row_that_is_larger_than_the_room_stays_in_part() -> None:
    evidence = gather([{"name": "Anna", "letters": ["x" * 90] * 1_000}, {"name": "Bert"}], max_bytes=2_000)

    assert isinstance(evidence.body, list)
    assert isinstance(evidence.body[0], dict)
    assert evidence.body[0]["name"] == "Anna"
    assert evidence.totals == {"": 2, "0.letters": 1_000}


def test_what_lies_too_deep_is_left_out() -> None:
    body: object = "bottom"
    for _ in range(200):
        body = [body]

    assert "bottom" not in str(gather(body).body)  # type: ignore[arg-type]


def test_the_work_does_not_grow_with_the_body() -> None:
    body = [{"a": number, "b": "text"} for number in range(200_000)]

    began = time.perf_counter()
    gather(body)  # type: ignore[arg-type]

    assert time.perf_counter() - began < 0.5
