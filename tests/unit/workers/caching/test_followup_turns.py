"""Who halts and corrects, and who asks for the way back."""

from __future__ import annotations

import pytest

from schemas.endpoints import Language
from tests.unit.workers.caching.followups import last_call, view_of
from workers.caching.followup import judge
from workers.turn.leaning import SURE


@pytest.mark.parametrize(
    ("language", "text", "city"),
    [
        ("en", "no wait, Tartu", "Tartu"),
        ("en", "hold on, Pärnu", "Pärnu"),
        ("en", "scratch that, Narva", "Narva"),
        ("et", "oi, oota, Pärnus", "Pärnus"),
        ("et", "üks hetk, hoopis Narvas", "Narvas"),
        ("ru", "нет, подожди, в Нарве", "Нарве"),
        ("ru", "стоп, Тарту", "Тарту"),
    ],
)
def test_who_halts_and_names_another_value_corrects_it(language: Language, text: str, city: str) -> None:
    follow = judge(text, language, last_call("weather", language), view_of("weather"))

    assert (follow.verdict, dict(follow.changed)) == ("param_update", {"city": city})
    assert follow.confidence >= SURE


@pytest.mark.parametrize(
    ("language", "text", "changed"),
    [
        ("en", "and back?", {}),
        ("en", "what about the return trip tomorrow?", {"date": "tomorrow"}),
        ("en", "and the other way round?", {}),
        ("et", "ja tagasi?", {}),
        ("et", "aga tagasi ülehomme?", {"date": "ülehomme"}),
        ("ru", "а обратно?", {}),
        ("ru", "и обратно завтра", {"date": "завтра"}),
    ],
)
def test_the_way_back_swaps_where_one_goes_from_and_to(language: Language, text: str, changed: dict[str, str]) -> None:
    follow = judge(text, language, last_call("trains", language), view_of("trains"))

    assert (follow.verdict, follow.swapped, follow.changed) == ("param_update", ("from", "to"), changed)


@pytest.mark.parametrize("before", ["weather", "holidays", "loans"])
@pytest.mark.parametrize(("language", "text"), [("en", "and back?"), ("et", "ja tagasi?"), ("ru", "а обратно?")])
def test_what_goes_nowhere_has_no_way_back(before: str, language: Language, text: str) -> None:
    assert judge(text, language, last_call(before, language), view_of(before)).swapped is None


@pytest.mark.parametrize(
    "text", ["two days back", "can I have my money back?", "back to the holidays", "from Narva and back"]
)
def test_back_beside_something_else_swaps_nothing(text: str) -> None:
    assert judge(text, "en", last_call("trains", "en"), view_of("trains")).swapped is None
