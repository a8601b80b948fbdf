"""Words that steer the collecting instead of filling it: yes, no, stop, skip, start over, what do you have.

A word list decides, never a prefix: "yesterday" is no yes, "nothing" no no. What is neither is None.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import cache

from schemas.endpoints import LANGUAGES
from workers.slotfilling.text import fold, words_of
from workers.messages.catalog import phrases


class Control(Enum):
    """What a message wants of the collecting itself."""

    YES = auto()
    NO = auto()
    CANCEL = auto()
    RESTART = auto()
    STATUS = auto()
    SKIP = auto()
    UNSURE = auto()


_LISTS = {
    "collect.cancel": Control.CANCEL,
    "collect.restart": Control.RESTART,
    "collect.status": Control.STATUS,
    "collect.skip": Control.SKIP,
    "collect.unsure": Control.UNSURE,
    "collect.yes": Control.YES,
    "collect.no": Control.NO,
}
_MOST_WORDS_AROUND = 3


@cache
def _phrases_of(key: str) -> tuple[tuple[str, ...], ...]:
    """Return the key's phrases of all languages as word sequences: people mix "ok" and "да" freely."""
    spoken = (phrase for language in LANGUAGES for phrase in phrases(key, language))
    return tuple({tuple(word.folded for word in words_of(phrase)) for phrase in spoken})


@cache
def _polite() -> frozenset[str]:
    return frozenset(word for (word, *_) in _phrases_of("collect.polite"))


def control_of(text: str) -> Control | None:
    """Return what the message steers, when steering is all it does ("jah, palun", "forget it"); else None."""
    if re.fullmatch(r"\s*(?:👍|👌|✅|\+1?)\s*", text):
        return Control.YES
    if re.fullmatch(r"\s*(?:👎|❌)\s*", text):
        return Control.NO
    words = [word.folded for word in words_of(text)]
    bare = tuple(word for word in words if word not in _polite())
    if not words:
        return None
    for key, control in _LISTS.items():
        for phrase in _phrases_of(key):
            if phrase and (tuple(words) == phrase or bare == phrase):
                return control
    return _agreed(bare)


def _agreed(words: tuple[str, ...]) -> Control | None:
    """Read doubled and joined words: "yes yes", "нет-нет", "jah muidugi", "yes go ahead"."""
    kinds = {control for word in words for control in (Control.YES, Control.NO) if _says(word, control)}
    others = [word for word in words if not any(_says(word, c) for c in (Control.YES, Control.NO))]
    if len(kinds) != 1 or others:
        return None
    return kinds.pop() if len(words) <= _MOST_WORDS_AROUND else None


def _says(word: str, control: Control) -> bool:
    key = "collect.yes" if control is Control.YES else "collect.no"
    return any((part,) in _phrases_of(key) for part in [word]) or (
        "-" in word and all((part,) in _phrases_of(key) for part in word.split("-"))
    )


def is_filler(text: str) -> bool:
    """Whether the text carries no value: empty, or only words such as "hmm", "well", "let me think"."""
    words = tuple(word.folded for word in words_of(text))
    if not words:
        return True
    fillers = _phrases_of("collect.fillers")
    singles = {phrase[0] for phrase in fillers if len(phrase) == 1} | _polite()
    return words in fillers or all(word in singles for word in words)
