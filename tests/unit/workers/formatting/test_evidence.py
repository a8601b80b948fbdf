"""Large bodies are cut along their structure, and what was cut is counted."""

from __future__ import annotations

import json
import time

from hypothesis import given
from hypothesis import strategies as st

from workers.formatting.evidence import gather

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


def test_a_string_is_never_cut_inside_a_character() -> None:
    kept = gather("õ" * 100, max_bytes=51).body

    assert kept == "õ" * 25


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
