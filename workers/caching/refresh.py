"""Whether a message asks for fresh data: "refresh", "värskenda andmeid", "обнови данные". Pure.

The words of all three languages count in each, for people mix them.
"""

from __future__ import annotations

import re
from functools import cache

from schemas.endpoints import LANGUAGES
from workers.messages.catalog import phrases


def wants_fresh(text: str) -> bool:
    """Whether the message, bare or beside a question, asks not to be answered from what is kept."""
    return _pattern("refresh.within").search(_folded(text)) is not None or is_refresh(text)


def is_refresh(text: str) -> bool:
    """Whether the message says nothing else: the last question is to be answered anew."""
    bare = _pattern("refresh.bare").fullmatch(_folded(text))
    return bare is not None


@cache
def _pattern(key: str) -> re.Pattern[str]:
    said = {_folded(phrase) for language in LANGUAGES for phrase in phrases(key, language)}
    either = "|".join(re.escape(phrase) for phrase in sorted(said, key=len, reverse=True))
    polite = {_folded(phrase) for language in LANGUAGES for phrase in phrases("refresh.polite", language)}
    please = "|".join(re.escape(phrase) for phrase in sorted(polite, key=len, reverse=True))
    if key == "refresh.bare":
        return re.compile(rf"(?:(?:{please}) )*(?:{either})(?: (?:{please}))*")
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)")


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold().replace("ё", "е")))
