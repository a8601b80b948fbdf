"""The answer as a whole: one result or several, failures, unmatched parts, and any JSON at all."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.calls import FailureReason
from schemas.endpoints import LANGUAGES, Language, Rendering
from tests.unit.workers.formatting.saying import a_call, brought, failed, say, templated, titled
from tests.unit.workers.formatting.test_evidence import JSONS
from workers.formatting.formatter import answer
from workers.messages.catalog import text

JSON_DUMP = re.compile(r"[{}]|\\u[0-9a-f]{4}|^#", re.MULTILINE)
ADDRESSES = a_call(titles={"en": "address search", "et": "aadressiotsing"})


def test_every_result_gets_its_paragraph_in_order() -> None:
    said = answer(
        "find an address and my vehicle tax",
        [(ADDRESSES, brought({"address": "Viru tn 4"})), (titled(), brought({"total": 5, "currency": "EUR"}))],
        language="en",
    )

    assert said == "Address search – address: Viru tn 4\n\nVehicle tax – total: €5.00"


def test_a_failed_part_is_told_beside_the_good_one() -> None:
    said = answer(
        "q",
        [(ADDRESSES, failed(FailureReason.TIMED_OUT)), (titled(), brought({"total": 5}))],
        language="et",
    )

    assert said == f"Aadressiotsing: {text('call.timed_out', 'et')}\n\nAutomaks – kokku: 5"


def test_a_single_failure_needs_no_heading() -> None:
    assert answer("q", [(titled(), failed(FailureReason.UNREACHABLE))], language="ru") == text("call.unreachable", "ru")


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "I could not find anything for “bake a cake” and “sing”."),
        ("et", "Selle osa kohta ei leidnud ma midagi: „bake a cake“ ja „sing“."),
        ("ru", "По этой части вопроса я ничего не нашёл: «bake a cake» и «sing»."),
    ],
)
def test_parts_that_nobody_could_take_are_named(language: Language, said: str) -> None:
    results = [(titled(), brought(5))]

    answered = answer("q", results, language=language, unmatched=["bake a cake", " ", "sing"])

    assert answered.split("\n\n")[-1] == said


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_answer_is_never_empty(language: Language) -> None:
    assert answer("", [], language=language) == text("formatting.nothing", language)


def test_a_template_is_preferred_and_its_silence_falls_back_to_the_shape() -> None:
    assert templated("It is {total|money:EUR}.", {"total": 5}) == "It is €5.00."
    assert templated("It is {absent|money:EUR}.", {"total": 5}) == "Vehicle tax – total: 5"
    assert templated("It is {total|money:EUR}.", "plain words") == "Vehicle tax: plain words"


def test_a_template_in_another_language_is_not_used() -> None:
    call = titled(rendering=Rendering(answer={"en": "It is {total}."}))

    assert say({"total": 5}, "et", call=call) == "Automaks – kokku: 5"


def test_rows_follow_the_opening_sentence() -> None:
    call = titled(
        rendering=Rendering(
            answer={"en": "You have {rows|plural:fine,fines}:"},
            items="rows",
            row={"en": "{date|date}, {amount|money:EUR}"},
            empty={"en": "You have no fines."},
        )
    )
    rows = [{"date": "2026-05-01", "amount": 31}, {"date": "2026-05-02", "amount": 40}]

    assert say({"rows": rows}, call=call) == "You have 2 fines:\n– 1 May 2026, €31.00\n– 2 May 2026, €40.00"
    assert say({"rows": []}, call=call) == "You have no fines."


def test_rows_are_counted_truly_when_the_body_was_cut() -> None:
    call = titled(rendering=Rendering(items="$", row={"en": "{name}"}))
    body = [{"name": "x" * 40, "more": "y" * 200} for _ in range(3412)]

    assert say(body, call=call).split("\n")[-1] == "… and 3,404 more"


def test_a_row_template_that_fits_nothing_falls_back_to_the_shape() -> None:
    call = titled(rendering=Rendering(answer={"en": "Found:"}, items="$", row={"en": "{absent}"}))

    assert say([{"name": "A"}, {"name": "B"}], call=call) == "Found:\n– A\n– B"


def test_a_write_without_a_body_is_confirmed() -> None:
    call = titled(method="POST")

    assert say(None, call=call) == "Done, the service has accepted the request (vehicle tax)."


def test_an_endpoint_without_titles_is_named_by_its_readable_name() -> None:
    assert say(5, call=a_call(name="get_vehicle_tax_info")) == "Vehicle tax info: 5"


def test_an_answer_stays_readable_however_long_its_parts_are() -> None:
    body = {f"field {n}": "word " * 1000 for n in range(12)}
    several = [(titled(), brought(body)) for _ in range(3)]

    assert len(answer("q", several, language="en")) <= 6_100


@settings(max_examples=150, deadline=None)
@given(JSONS, st.sampled_from(LANGUAGES), st.text(max_size=30))
def test_any_json_gives_an_answer_and_never_a_dump(body: Any, language: Language, query: str) -> None:
    said = say(body, language, query=query)

    assert said.strip()
    assert not JSON_DUMP.search(said)
    assert said.encode().decode() == said


@settings(max_examples=60, deadline=None)
@given(st.lists(JSONS, max_size=4), st.lists(st.text(max_size=20), max_size=3))
def test_any_number_of_results_and_remarks_gives_an_answer(bodies: list[Any], unmatched: list[str]) -> None:
    said = answer("q", [(titled(), brought(body)) for body in bodies], language="ru", unmatched=unmatched)

    assert said.strip()
    assert not JSON_DUMP.search(said)
