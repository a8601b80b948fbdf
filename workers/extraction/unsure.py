"""Tells when the rules may have missed something that the person said, so that a model is worth asking. Pure."""

from __future__ import annotations

from datetime import datetime

from schemas.conversations import Collecting
from schemas.endpoints import Language
from workers.extraction.assigning import Slots, hear
from workers.extraction.continuation import is_filler, steering, yes_or_no
from workers.extraction.loop import Asked
from workers.extraction.reading import read
from workers.extraction.text import Word, overlaps, same_stem

_SHORTEST_WORD = 3


def may_hold_more(outcome: Asked, collecting: Collecting, message: str, *, language: Language, now: datetime) -> bool:
    """Whether the message may hold a value that the rules did not take.

    An answer to a question from which nothing was taken may; so may a first message with a name or a number left over.
    Steering words, a plain yes or no, hesitation, and words in doubt (the person is asked which) hold nothing more.
    """
    if outcome.choices or steering(message) or is_filler(message) or yes_or_no(message) != "unclear":
        return False
    if collecting.turns:
        return [one.values for one in outcome.collecting.endpoints] == [one.values for one in collecting.endpoints]
    reading = read(message, language=language, now=now)
    heard = hear(reading, collecting)
    taken = [(said.start, said.end) for found in heard.found for said in found.values()]
    own = [Slots(progress) for progress in collecting.endpoints]
    left = (word for at, word in enumerate(reading.text.words) if not overlaps(word.start, word.end, taken) and at)
    return any(_names_something(word, reading.text.raw) and not _is_of_endpoint(word, own) for word in left)


def _names_something(word: Word, raw: str) -> bool:
    """Whether a word is a name or a number: what begins with a capital or holds a digit."""
    written = raw[word.start : word.end]
    is_name = written[:1].isupper() and len(written) >= _SHORTEST_WORD
    return is_name or any(char.isdigit() for char in written)


def _is_of_endpoint(word: Word, own: list[Slots]) -> bool:
    return any(same_stem(word.folded, known) for slots in own for known in slots.words.get(word.folded[:4], ()))
