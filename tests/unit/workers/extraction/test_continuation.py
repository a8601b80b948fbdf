"""Yes, no, and what only looks like them."""

from __future__ import annotations

import pytest

from workers.extraction.continuation import is_filler, steering, yes_or_no

YES = [
    "yes", "Yes.", "yes please", "y", "yep", "yup", "sure!", "of course", "ok", "no problem, go ahead", "why not",
    "Yes, I would like to see them", "👍", "jah", "Jah, jätkame", "jah, palun", "muidugi", "jaa", "olgu", "miks mitte",
    "да", "Да!", "ага", "конечно, давай", "хочу", "продолжим", "I guess so", "pigem jah", "скорее да",
    "suppose so", "no olgu", "olgu siis", "might as well",
]  # fmt: skip
NO = [
    "no", "No.", "nope", "no thanks", "not now", "stop", "👎", "ei", "Ei, aitäh", "ei soovi", "pole vaja", "нет",
    "нет-нет", "не надо", "нет, спасибо", "не хочу", "I guess not", "pigem ei, aitäh", "пожалуй, нет",
]  # fmt: skip
UNCLEAR = [
    "yesterday", "not sure", "nothing wrong", "yes but change the date", "maybe", "hmm", "ei tea", "võib-olla",
    "jah, aga hiljem", "не знаю", "да нет", "может быть", "2026-04-20", "", "👍👎", "Norway",
    "jahimees", "нетто", "okra",
]  # fmt: skip


@pytest.mark.parametrize("message", YES)
def test_a_clear_yes_is_a_yes(message: str) -> None:
    assert yes_or_no(message) == "yes"


@pytest.mark.parametrize("message", NO)
def test_a_clear_no_is_a_no(message: str) -> None:
    assert yes_or_no(message) == "no"


@pytest.mark.parametrize("message", UNCLEAR)
def test_everything_else_is_unclear(message: str) -> None:
    assert yes_or_no(message) == "unclear"


@pytest.mark.parametrize(
    ("message", "meant"),
    [
        ("cancel", "cancel"), ("forget it", "cancel"), ("stop it please", "cancel"), ("tühista palun", "cancel"),
        ("unusta ära", "cancel"), ("отмена", "cancel"), ("забудь", "cancel"),
        ("start over", "restart"), ("alustame otsast peale", "restart"), ("начать заново", "restart"),
        ("what do you know so far?", "known"), ("mida sa seni tead?", "known"), ("что ты уже знаешь?", "known"),
        ("mis sul juba olemas on?", "known"),
        ("I don't know", "dunno"), ("ei tea", "dunno"), ("не знаю", "dunno"),
        ("skip", "skip"), ("jäta vahele", "skip"), ("пропусти", "skip"),
        ("cancel my subscription in Tartu", None), ("2026-01-01", None), ("stop 4, Tartu", None), ("Skype", None),
    ],
)  # fmt: skip
def test_a_steering_word_steers_only_when_it_is_the_whole_message(message: str, meant: str | None) -> None:
    assert steering(message) == meant


@pytest.mark.parametrize(
    "message", ["hmm, let me think", "just a moment", "who knows", "oota, palun", "дай подумать", "…"]
)
def test_hesitation_is_no_value(message: str) -> None:
    assert is_filler(message)
    assert not is_filler(f"{message} Tammepuu Ehitus")
