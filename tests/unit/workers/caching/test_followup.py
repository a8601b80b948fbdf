"""Follow-ups are told from new questions by rules alone, in three languages."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.endpoints import LANGUAGES, Language
from tests.unit.workers.caching.followups import Case, cases, last_call, view_of
from workers.caching.contexts import FollowUp
from workers.caching.followup import judge
from workers.messages.catalog import phrases
from workers.turn.leaning import LIKELY, SURE

OVERALL, PER_LANGUAGE = 0.90, 0.85
HALVES = ("development", "holdout", "fresh", "blind", "late", "last", "more")


def _judged(case: Case) -> FollowUp:
    return judge(case.text, case.language, last_call(case.before, case.language), view_of(case.before))


@pytest.mark.parametrize("half", HALVES)
def test_nine_of_ten_messages_are_judged_as_people_mean_them(half: str) -> None:
    labelled = cases(half)
    confusion = Counter((case.language, case.verdict, _judged(case).verdict) for case in labelled)

    for (language, meant, judged), times in sorted(confusion.items()):
        print(f"{half} {language}: {meant} judged {judged}: {times}")
    right = Counter(dict.fromkeys(LANGUAGES, 0))
    for (language, meant, judged), times in confusion.items():
        right[language] += times * (meant == judged)
    sizes = Counter(case.language for case in labelled)
    shares = {language: right[language] / sizes[language] for language in LANGUAGES}
    print(half, {language: round(share, 3) for language, share in shares.items()})
    assert right.total() / len(labelled) >= OVERALL
    assert min(shares.values()) >= PER_LANGUAGE


@pytest.mark.parametrize("half", HALVES)
def test_the_changed_parameters_are_those_that_were_named(half: str) -> None:
    updates = [case for case in cases(half) if case.verdict == "param_update"]
    right = sum(_judged(case).changed.keys() == case.changed for case in updates)

    print(half, right, len(updates))
    assert right / len(updates) >= OVERALL


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sets_are_large_enough_to_tell(language: str) -> None:
    own = [case for half in HALVES for case in cases(half) if case.language == language]

    assert len(own) >= 50
    assert len({case.before for case in own}) >= 6
    assert min(Counter(case.verdict for case in own).values()) >= 15
    assert len({(case.before, case.text) for case in own}) == len(own)


def _said(text: str, before: str = "holidays", language: Language = "en", *, result: str = "stored") -> FollowUp:
    return judge(text, language, last_call(before, language, result=result), view_of(before))


ASKING: list[tuple[Language, str]] = [
    ("en", "which one is the longest?"),
    ("en", "How many are there?"),
    ("et", "mitu neid kokku on?"),
    ("ru", "а какой из них первый?"),
]


@pytest.mark.parametrize(("language", "text"), ASKING)
def test_nothing_is_answered_from_a_call_that_failed(language: Language, text: str) -> None:
    assert _said(text, "school", language).verdict == "response_question"
    assert _said(text, "school", language, result="").verdict == "new_intent"


@pytest.mark.parametrize(("language", "text"), ASKING)
def test_nothing_is_answered_from_an_endpoint_that_has_changed_since(language: Language, text: str) -> None:
    view = view_of("school")
    changed = view.model_copy(update={"version": view.version + 1})

    assert judge(text, language, last_call("school", language), changed).verdict == "new_intent"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "how many days until then?"),
        ("en", "which is the cheapest?"),
        ("en", "what should I wear?"),
        ("en", "where do I pay it?"),
        ("et", "milline on kõige odavam?"),
        ("ru", "какой самый дешёвый?"),
    ],
)
def test_what_the_result_cannot_tell_is_a_new_question(language: Language, text: str) -> None:
    assert _said(text, "holidays", language).verdict == "new_intent"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Which of those is a bank holiday?"),
        ("en", "and which of them are worth a trip?"),
        ("en", "which of these are after June?"),
        ("en", "is any one of them on a weekend?"),
        ("et", "Millised neist on puhkepäevad?"),
        ("et", "kas mõni nende seast on tähtsam?"),
        ("et", "mis neist on pärast juunit?"),
        ("ru", "Какие из них нерабочие дни?"),
        ("ru", "есть ли среди них летние?"),
        ("ru", "какие из этих до июня?"),
    ],
)
def test_what_is_asked_of_those_is_about_the_result_whatever_it_asks(language: Language, text: str) -> None:
    judged = _said(text, "holidays", language)

    assert (judged.verdict, judged.confidence >= SURE) == ("response_question", True)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "what is the weather on the first of those?"),
        ("en", "is the library open on those days?"),
        ("en", "which of those are in Latvia?"),
        ("et", "mis ilm on esimesel neist?"),
        ("ru", "какая погода в первый из них?"),
    ],
)
def test_those_may_stand_in_a_question_about_something_else(language: Language, text: str) -> None:
    assert _said(text, "holidays", language).verdict != "response_question"


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("and in Latvia?", {"countryIsoCode": "Latvia"}),
        ("not Latvia, Lithuania", {"countryIsoCode": "Lithuania"}),
        ("what about 2025?", {"validFrom": "2025", "validTo": "2025"}),
        ("what about 2024?", {"validFrom": "2024", "validTo": "2024"}),
        ("and from 1 May to 10 May?", {"validFrom": "1 May to 10 May", "validTo": "1 May to 10 May"}),
        ("Same for LV in 2027", {"countryIsoCode": "LV", "validFrom": "2027", "validTo": "2027"}),
    ],
)
def test_the_words_of_the_new_value_are_told_as_they_were_typed(text: str, changed: dict[str, str]) -> None:
    assert _said(text).changed == changed


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("ja Tapalt?", {"from": "Tapalt"}),
        ("ja Narva?", {"to": "Narva"}),
        ("а из Тапа?", {"from": "Тапа"}),
        ("а в Нарву?", {"to": "Нарву"}),
    ],
)
def test_a_place_is_read_with_its_direction(text: str, changed: dict[str, str]) -> None:
    assert _said(text, "trains", "ru" if text.startswith("а") else "et").changed == changed


def test_a_country_is_no_name_of_a_place_or_a_firm() -> None:
    assert _said("Same for Latvia?", "pharmacies").verdict == "new_intent"
    assert _said("Same for Latvia?", "company").verdict == "new_intent"


def test_two_values_for_one_parameter_are_more_than_one_call() -> None:
    assert _said("and in Latvia and Lithuania?").verdict == "new_intent"


def test_a_place_without_a_direction_may_be_either_end() -> None:
    assert _said("what about Narva?", "trains").verdict == "new_intent"


@pytest.mark.parametrize("half", HALVES)
def test_only_parameters_of_the_endpoint_are_changed_and_only_words_of_the_message_are_told(half: str) -> None:
    for case in cases(half):
        judged = _judged(case)

        assert judged.changed.keys() <= {param.name for param in view_of(case.before).params}
        assert all(said in case.text for said in judged.changed.values())
        assert not judged.changed or judged.verdict == "param_update"


@pytest.mark.parametrize(
    ("language", "text"), [("en", "without the day"), ("et", "ilma kuupäevata"), ("ru", "без даты")]
)
def test_an_optional_value_can_be_taken_back(language: Language, text: str) -> None:
    judged = _said(text, "weather", language)

    assert (judged.verdict, judged.removed) == ("param_update", ("date",))


@pytest.mark.parametrize(
    ("before", "language", "text"),
    [
        ("weather", "en", "is the wind strong?"),
        ("weather", "et", "kas tuul on tugev?"),
        ("weather", "ru", "ветер будет сильный?"),
        ("company", "en", "is it still active?"),
        ("company", "et", "kas see tegutseb veel?"),
        ("fines", "et", "millal esimene tehti?"),
    ],
)
def test_one_unknown_word_about_what_was_found_is_but_a_guess(before: str, language: Language, text: str) -> None:
    judged = _said(text, before, language)

    assert (judged.verdict, judged.confidence) == ("response_question", LIKELY)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("votings", "when are the next elections?"),
        ("address", "what are house prices like there?"),
        ("loans", "can I borrow it again and again from another library?"),
        ("trains", "cancel it?"),
    ],
)
def test_a_word_that_names_something_else_is_no_guess(before: str, text: str) -> None:
    assert _said(text, before).verdict == "new_intent"


def test_a_required_value_cannot_be_taken_back() -> None:
    assert _said("without the country").verdict == "new_intent"


@pytest.mark.parametrize(
    "text", ["", " ", "?", "…", "\u0000", "🙂", "a" * 5000, "and " * 60, "и́" * 40, "{}[]()*+?", "-1", "٣", "²"]
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_makes_the_judgement_fail(text: str, language: Language) -> None:
    for before in ("holidays", "currency", "trains", "company"):
        assert _said(text, before, language).verdict in ("new_intent", "param_update", "response_question")


SPOKEN = sorted({
    word
    for language in LANGUAGES
    for key in ("openers", "same", "back", "small", "days", "partitive", "shifts", "drops", "subjects")
    for phrase in phrases(f"followup.{key}", language)
    for word in re.findall(r"\w+", phrase)
})  # fmt: skip
VALUES = ["Latvia", "Lätis", "в Латвии", "2027", "24.12.", "7th", "123ABC", "Tartu", "first", "cheapest", "monday", "?"]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([*SPOKEN, *VALUES]), max_size=12).map(" ".join),
    st.sampled_from(["holidays", "trains", "tax", "weather", "loans"]),
    st.sampled_from(LANGUAGES),
)
def test_no_mixture_of_what_people_say_makes_it_fail(text: str, before: str, language: Language) -> None:
    judged = judge(text, language, last_call(before, language), view_of(before), answer=text)

    assert (judged.verdict == "param_update") == bool(judged.changed or judged.removed)


def test_the_answer_that_was_given_explains_its_words() -> None:
    last, view = last_call("holidays", "en"), view_of("holidays")

    assert judge("when is Midsummer Day?", "en", last, view).verdict == "new_intent"
    told = judge("when is Midsummer Day?", "en", last, view, answer="24 June: Midsummer Day")
    assert told.verdict == "response_question"


@pytest.mark.parametrize(("language", "text"), [("et", "а в Латвии?"), ("ru", "and in Latvia?"), ("en", "ja Lätis?")])
def test_a_follow_up_may_be_in_another_language_than_the_chat(language: Language, text: str) -> None:
    assert _said(text, "holidays", language).changed.keys() == {"countryIsoCode"}
