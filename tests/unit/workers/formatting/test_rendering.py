"""Operators' templates: fields, filters, and the clauses that fall with what is missing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.endpoints import LANGUAGES, Language
from tests.unit.workers.formatting.saying import NBSP, a_call
from tests.unit.workers.formatting.test_evidence import JSONS
from workers.formatting.filters import FILTERS
from workers.formatting.rendering import fill
from workers.formatting.scope import Scope

TAX = {
    "regNr": "123ABC",
    "tax": {"total": 127.4, "rate": 0.24, "zero": 0.0},
    "currency": "EUR",
    "due": "2026-06-15",
    "at": "2026-06-15T09:05:00+03:00",
    "end": "2026-07-01",
    "paid": False,
    "status": "open",
    "parts": [{"name": "base"}, {"name": "mass"}, {"name": "CO₂"}],
    "name": [{"language": "EN", "text": "car"}, {"language": "ET", "text": "auto"}],
    "words": {"en": "car", "ru": "машина"},
    "nothing": None,
}
COUNTRY = {"name": "country", "enum": [{"value": "EE", "labels": {"en": "Estonia", "et": "Eesti"}}]}


def filled(template: str, language: Language = "en", body: Any = None, **arguments: Any) -> str:
    call = a_call(arguments=arguments, params=[COUNTRY])
    return fill(template, Scope(call=call, body=TAX if body is None else body, language=language))


@pytest.mark.parametrize(
    ("template", "language", "said"),
    [
        ("{regNr}: {tax.total|money:EUR}", "en", "123ABC: €127.40"),
        ("{regNr}: {tax.total|money:EUR}", "et", f"123ABC: 127,40{NBSP}€"),
        ("{tax.total|money:currency}", "ru", f"127,40{NBSP}€"),
        ("{tax.total|number:1}", "et", "127,4"),
        ("{tax.rate|percent}", "en", "0.24%"),
        ("{due|date}", "ru", "15 июня 2026 г."),
        ("{due|date:until}", "et", "15. juunini 2026"),
        ("{due|date:weekday}", "en", "Monday, 15 June 2026"),
        ("{due|date:day}", "et", "15. juuni"),
        ("{due|weekday}", "et", "esmaspäev"),
        ("{due|until:end}", "en", "15 June – 1 July 2026"),
        ("{due|within:end}", "en", "in the period 15 June – 1 July 2026"),
        ("{due|within:due}", "en", "on 15 June 2026"),
        ("{due|within:due}", "et", "15. juunil 2026"),
        ("{due|within:due}", "ru", "15 июня 2026 г."),
        ("{at|time}", "en", "09:05"),
        ("{at|datetime}", "et", "15. juuni 2026 kell 09:05"),
        ("{at|date}", "en", "15 June 2026"),
        ("{paid|bool}", "et", "ei"),
        ("{paid|bool:paid,unpaid}", "en", "unpaid"),
        ("{status|map:open=avatud,closed=suletud}", "et", "avatud"),
        ("{status|map:closed=suletud}", "et", "open"),
        ("{parts|list:name}", "en", "base, mass and CO₂"),
        ("{parts|count}", "en", "3"),
        ("{parts|plural:часть,части,частей}", "ru", "3 части"),
        ("{parts|form:is,are}", "en", "are"),
        ("{parts.1.name}", "en", "mass"),
        ("{status|upper}", "en", "OPEN"),
        ("{status|capital}", "en", "Open"),
        ("{status|quote}", "et", "„open“"),
        ("{name}", "et", "auto"),
        ("{name}", "ru", "car"),
        ("{words}", "ru", "машина"),
        ("{$|count}", "en", ""),
        ("{country|label:country}", "et", "Eesti"),
        ("{country|label:country}", "ru", "Estonia"),
        ("{absent|default:unknown}", "en", "unknown"),
        ("{status|nosuchfilter}", "en", "open"),
        ("{status|date}", "en", "open"),
        ("{status|money:EUR}", "en", "open"),
        ("{{literal}} [[too]]", "en", "{literal} [too]"),
    ],
)
def test_a_field_is_said_through_its_filters(template: str, language: Language, said: str) -> None:
    assert filled(template, language, country="EE") == said


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("The tax is {absent|money:EUR}. It is due {due|date}.", "It is due 15 June 2026."),
        ("{regNr} costs €1, due {absent|date}.", "123ABC costs €1."),
        ("{regNr} costs €1, due {absent|date}, paid yearly.", "123ABC costs €1, paid yearly."),
        ("{regNr}[ ({absent})] is here.", "123ABC is here."),
        ("{regNr}[ ({status})] is here.", "123ABC (open) is here."),
        ("{regNr}[, of {tax.zero|map:0.0=|money:EUR}].", "123ABC."),
        ("{absent}", ""),
        ("{nothing}, {absent}", ""),
        ("Just words.", "Just words."),
    ],
)
def test_what_is_missing_takes_its_clause_along(template: str, said: str) -> None:
    assert filled(template) == said


def test_commas_inside_a_value_part_nothing() -> None:
    assert filled("{address}, {absent}.", body={"address": "Viru tn 4, Tallinn. Eesti"}) == "Viru tn 4, Tallinn. Eesti."


def test_a_russian_year_does_not_end_a_sentence_twice() -> None:
    assert filled("Срок: {due|date}.", "ru") == "Срок: 15 июня 2026 г."


def test_the_body_comes_before_the_parameters_and_the_row_before_both() -> None:
    call = a_call(arguments={"a": "param", "b": "param", "c": "param"})
    scope = Scope(call=call, body={"a": "body", "b": "body"}, language="en").of_row({"a": "row"})

    assert fill("{a} {b} {c} {$.a}", scope) == "row body param body"


def test_a_value_is_data_even_when_it_looks_like_a_template() -> None:
    assert filled("{x}", body={"x": "{regNr|upper} <b>[y]</b>"}) == "(regNr|upper) [y]"


@pytest.mark.parametrize("template", ["{", "}", "{}", "[", "]", "[{absent}", "{a|}", "{|date}", "{a|date:}", "{a:b|c"])
def test_a_broken_template_never_raises(template: str) -> None:
    assert isinstance(filled(template), str)


@given(st.text(alphabet="{}[]|:,. $ab", max_size=40), JSONS, st.sampled_from(LANGUAGES))
def test_no_template_and_no_body_can_raise(template: str, body: Any, language: Language) -> None:
    assert isinstance(filled(template, language, body={"a": body, "b": body}), str)


@given(st.sampled_from(sorted(FILTERS)), st.sampled_from(["", ":EUR", ":a", ":x=y,z", ":3"]), JSONS)
def test_no_filter_raises_on_any_value(name: str, arguments: str, body: Any) -> None:
    assert isinstance(filled(f"{{a|{name}{arguments}}}", body={"a": body}), str)
