"""Hears yes, no and the words that steer a collection: cancel, start over, skip, "what do you know so far?"."""

from __future__ import annotations

from typing import Literal

from workers.extraction.wording import cover, holds, plain_words, signs_of

Reply = Literal["yes", "no", "unclear"]
Steering = Literal["cancel", "restart", "known", "dunno", "skip"]

_STEERINGS: tuple[Steering, ...] = ("cancel", "restart", "known", "dunno", "skip")


def yes_or_no(message: str) -> Reply:
    """Hear a clear yes or a clear no. Anything with a reserve ("yes but …", "not sure", "yesterday") is unclear."""
    words = plain_words(message)
    if not words:
        return _by_sign(message)
    if holds(words, "unsure") or holds(words, "but"):
        return _covered(words) if not holds(words, "unsure") else "unclear"
    whole = _covered(words)
    if whole != "unclear":
        return whole
    return _by_opening(words)


def _by_sign(message: str) -> Reply:
    signs = set(message) & (signs_of("yes") | signs_of("no"))
    if not signs:
        return "unclear"
    if signs <= signs_of("yes"):
        return "yes"
    return "no" if signs <= signs_of("no") else "unclear"


def _covered(words: tuple[str, ...]) -> Reply:
    """Decide a message that holds nothing but agreement, refusal and politeness."""
    said = set(cover(words, ("yes", "no", "cancel", "polite")) or ()) - {"polite"}
    if said == {"yes"}:
        return "yes"
    return "no" if said and "yes" not in said else "unclear"


def _by_opening(words: tuple[str, ...]) -> Reply:
    """Decide "yes, I would like to see them all": a plain yes or no first, and nothing against it after."""
    opens_yes, opens_no = (cover(words[:1], (key,)) is not None for key in ("plain_yes", "plain_no"))
    if opens_yes and not holds(words, "no"):
        return "yes"
    return "no" if opens_no and not holds(words[1:], "yes") else "unclear"


def steering(message: str) -> Steering | None:
    """Hear a message that is nothing but one of the steering phrases, politeness aside."""
    words = plain_words(message)
    if not words:
        return None
    for key in _STEERINGS:
        found = cover(words, (key, "polite", "plain_no", "plain_yes"))
        if found and key in found:
            return key
    return None


def is_filler(message: str) -> bool:
    """Whether a message says nothing that could be a value: "hmm, let me think"."""
    words = plain_words(message)
    return not words or cover(words, ("fillers", "unsure", "polite", "yes", "no", "dunno", "cancel")) is not None
