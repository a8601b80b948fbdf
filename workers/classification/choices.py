"""Buttons that stand for endpoints: offered when several could be meant, taken only where offered. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from schemas.endpoints import LANGUAGES, Language
from schemas.routing import Candidate, Choice
from workers.classification.vocabulary import expand, vocabulary
from workers.classification.wording import title
from workers.classification.words import folded_words
from workers.messages.catalog import phrases

PREFIX = "#endpoint:"


def offer(candidates: Sequence[Candidate], language: Language) -> tuple[Choice, ...]:
    """Make one button per endpoint, titled in the language."""
    return tuple(
        Choice(title=_capitalised(title(c.endpoint, language)), payload=f"{PREFIX}{c.endpoint.endpoint_id}")
        for c in candidates
    )


def is_payload(text: str) -> bool:
    """Whether a message has the form of a pressed endpoint button, offered or not."""
    return text.strip().startswith(PREFIX)


def endpoint_id(choice: Choice) -> str:
    return choice.payload.removeprefix(PREFIX)


def taken(text: str, offered: Sequence[Choice]) -> Choice | None:
    """Return the offered endpoint that the message takes: by its button, its title, or its place ("the second")."""
    ours = [choice for choice in offered if is_payload(choice.payload)]
    if is_payload(text):
        return next((choice for choice in ours if choice.payload == text.strip()), None)
    words = folded_words(text)
    by_title = next((choice for choice in ours if folded_words(choice.title) == words), None)
    return by_title or _by_place(words, ours)


def _by_place(words: Sequence[str], ours: Sequence[Choice]) -> Choice | None:
    around = vocabulary("pick.surrounding")
    kept: list[str] = []
    at = 0
    while at < len(words):
        end = around.match(words, at)
        kept += [] if end > at else [words[at]]
        at = max(end, at + 1)
    if len(kept) != 1:
        return None
    return next((choice for place, choice in enumerate(ours, start=1) if _is_place(kept[0], place)), None)


def _is_place(word: str, place: int) -> bool:
    return word == str(place) or word in _ordinals(place)


@cache
def _ordinals(place: int) -> frozenset[str]:
    """Return the words for a place ("second", "teine", "второй"), of all three languages."""
    lists = (phrases("pick.ordinals", language) for language in LANGUAGES)
    patterns = (ordinals[place - 1] for ordinals in lists if place <= len(ordinals))
    return frozenset(word for pattern in patterns for (word,) in expand(pattern))


def _capitalised(words: str) -> str:
    return words[:1].upper() + words[1:]
