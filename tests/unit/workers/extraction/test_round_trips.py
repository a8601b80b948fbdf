"""What is written in a kind's own form, and said in a language, is read back as it was: parse(format(x)) = x.

Days, ranges, moments, numbers and money have theirs in `test_dates.py`, `test_numbers.py` and `test_values_at_risk.py`.
"""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from schemas.endpoints import LANGUAGES, Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import PARKING, Talk, endpoint
from workers.extraction.values_codes import is_iban
from workers.extraction.values_names import NameKind, index_of
from workers.messages.catalog import phrases

FRAMES: dict[Language, tuple[str, ...]] = {
    "en": ("{}", "it is {}", "{}, please"),
    "et": ("{}", "see on {}", "{}, palun"),
    "ru": ("{}", "это {}", "{}, пожалуйста"),
}
SAID = st.sampled_from([(language, frame) for language, frames in FRAMES.items() for frame in frames])
LANGUAGE = st.sampled_from(LANGUAGES)
DIGITS = string.digits
quick = settings(max_examples=30, deadline=None)


def read_back(spec: ParamSpec, written: str, said: tuple[Language, str]) -> Any:
    """Answer the only question with it, in that language's frame."""
    language, frame = said
    talk = Talk(endpoint("any", spec, title="any"), language=language)
    talk.ask("?")
    talk.say(frame.format(written))
    return talk.values().get(spec.name)


def wanted(name: str, **more: Any) -> ParamSpec:
    return ParamSpec.model_validate({"name": name, "required": True, **more})


def letters(count: int) -> st.SearchStrategy[str]:
    return st.text("ABCDEFGHJKLMNPRSTUVWXYZ", min_size=count, max_size=count)


def digits(fewest: int, most: int | None = None) -> st.SearchStrategy[str]:
    return st.text(DIGITS, min_size=fewest, max_size=most or fewest)


@st.composite
def ibans(draw: st.DrawFn) -> str:
    country, account = draw(st.sampled_from(["EE", "LV", "FI", "DE"])), draw(digits(16))
    body = "".join(str(int(char, 36)) for char in f"{account}{country}00")
    return f"{country}{98 - int(body) % 97:02d}{account}"


@quick
@given(iban=ibans(), said=SAID, is_grouped=st.booleans())
def test_an_iban(iban: str, said: tuple[Language, str], *, is_grouped: bool) -> None:
    assert is_iban(iban)
    written = " ".join(iban[at : at + 4] for at in range(0, len(iban), 4)) if is_grouped else iban
    assert read_back(wanted("iban", format="iban"), written, said) == iban


@quick
@given(number=digits(3), word=letters(3), said=SAID)
def test_a_plate(number: str, word: str, said: tuple[Language, str]) -> None:
    assume(
        word.lower() not in ("eur", "usd", "sek", "gbp", "may", "mai", "jan", "feb", "mar", "apr", "jun", "jul", "aug")
    )
    assume(word.lower() not in ("sep", "oct", "nov", "dec", "for", "kuu", "mnt", "pst", "and", "the", "day", "yrs"))
    assert read_back(wanted("regNr", format="plate"), number + word, said) == number + word


@quick
@given(code=digits(8).filter(lambda code: code[0] != "0"), said=SAID)
def test_a_registry_code(code: str, said: tuple[Language, str]) -> None:
    assert read_back(wanted("registryCode", format="registry-code"), code, said) == code


@quick
@given(code=digits(5, 12), said=SAID)
def test_an_identifier_with_its_zeros(code: str, said: tuple[Language, str]) -> None:
    assert read_back(wanted("parcelId", format="id"), code, said) == code


@quick
@given(
    name=st.text(string.ascii_letters + DIGITS, min_size=1, max_size=8),
    host=st.text(string.ascii_lowercase, min_size=2, max_size=8),
    said=SAID,
)
def test_an_e_mail_address(name: str, host: str, said: tuple[Language, str]) -> None:
    written = f"{name}@{host}.ee"
    assert read_back(wanted("email", format="email"), written, said) == written


@quick
@given(number=digits(6, 7).map(lambda rest: f"5{rest}"), said=SAID, has_country=st.booleans())
def test_a_phone_number(number: str, said: tuple[Language, str], *, has_country: bool) -> None:
    written = f"+372 {number[:4]} {number[4:]}" if has_country else number
    assert read_back(wanted("phone", format="phone"), written, said) == written


def named(kind: NameKind) -> list[tuple[Language, str, str]]:
    """Return every name of every language, with its usual code, where no other thing is called so."""
    names = [name for of_prefix in index_of(kind).values() for name in of_prefix]
    called: dict[tuple[str, ...], set[str]] = {}
    for name in names:
        called.setdefault(name.words, set()).add(name.codes[0])
    return [(name.language, name.written, name.codes[0]) for name in names if len(called[name.words]) == 1]


@pytest.mark.parametrize(("kind", "spec"), [
    ("countries", wanted("country", description="ISO country code", format="country")),
    ("currencies", wanted("currency", description="Currency code", format="currency")),
    ("cities", wanted("city", format="city")),
])  # fmt: skip
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_name_of_a_place_or_a_currency(kind: NameKind, spec: ParamSpec, data: st.DataObject) -> None:
    language, written, code = data.draw(st.sampled_from(named(kind)))
    assert read_back(spec, written, (language, "{}")) == code


@quick
@given(street=st.sampled_from(["Viru tn", "Narva mnt", "Pikk", "Lai", "Kreutzwaldi"]), number=st.integers(1, 200),
       town=st.sampled_from(["Tallinn", "Tartu", "Narva", "Pärnu"]), said=SAID)  # fmt: skip
def test_an_address(street: str, number: int, town: str, said: tuple[Language, str]) -> None:
    written = f"{street} {number}, {town}"
    assert read_back(wanted("address", format="address"), written, (said[0], "{}")) == written


@given(option=st.sampled_from(PARKING.params[0].enum), said=SAID)
@quick
def test_a_choice_by_its_label_or_its_value(option: Any, said: tuple[Language, str]) -> None:
    for written in (option.value, option.labels.get(said[0], option.value)):
        assert read_back(PARKING.params[0], written, said) == option.value


@quick
@given(towns=st.lists(st.sampled_from(["Tallinn", "Tartu", "Narva", "Haapsalu"]), min_size=2, max_size=4, unique=True),
       language=LANGUAGE)  # fmt: skip
def test_a_list(towns: list[str], language: Language) -> None:
    joined = {"en": " and ", "et": " ja ", "ru": " и "}[language].join([", ".join(towns[:-1]), towns[-1]])
    spec = wanted("towns", type="array", items={"name": "town", "format": "city"})
    assert read_back(spec, joined, (language, "{}")) == towns


def words_for(language: Language) -> list[tuple[str, int]]:
    """Return how each number up to a hundred is said."""
    first: dict[int, str] = {}
    for line in phrases("hearing.numbers", language):
        number, _, said = line.partition(":")
        first.setdefault(int(number), said.split(",")[0].strip())
    tens = {ten: word for ten, word in first.items() if ten % 10 == 0 and 20 <= ten < 100}
    both = {ten + unit: f"{word} {first[unit]}" for ten, word in tens.items() for unit in range(1, 10) if unit in first}
    return [(said, number) for number, said in (first | both).items()]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_number_word_up_to_a_hundred(language: Language) -> None:
    spec = wanted("count", type="integer")
    spoken = words_for(language)

    assert {number for _, number in spoken} == set(range(101))
    assert {said: read_back(spec, said, (language, "{}")) for said, _ in spoken} == dict(spoken)
