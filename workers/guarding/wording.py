"""Which of English and Estonian a text's own words are of; names, values and what the data holds do not count. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache

from schemas.endpoints import Language
from workers.messages.catalog import phrases
from workers.messages.identifying import likelihoods

# A word, with the beginning of its sentence if it stands there: a capital elsewhere is a name's.
_WORD = re.compile(r"(?P<opens>(?:^|[.!?:;–\n])\s*[\"“„(]?)?(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)")
_OTHER: Mapping[Language, Language] = {"en": "et", "et": "en"}
_FEW_WORDS = 4
_ENOUGH_WORDS = 6
_CLEAR = 2
_SURE = 0.999
# Everyday words of answers, beside those that people ask with.
_SAID: Mapping[Language, frozenset[str]] = {
    "en": frozenset(
        {"here", "these", "those", "been", "its", "their", "they", "he", "she", "them", "into", "as", "no"}
    ),
    "et": frozenset(
        {"ole", "oleks", "ei", "siin", "siis", "nende", "selles", "sellel", "see", "on", "kokku", "ta", "nad", "teie"}
    ),
}
# Of both languages: "on", "see", "me", "et" and "a" tell nothing.
_BOTH = frozenset({"on", "see", "me", "et", "a", "i", "at", "no", "is", "as", "but", "to", "ta", "he", "she"})


def is_of_the_other(text: str, language: Language, *, known: Collection[str] = ()) -> bool:
    """Whether an answer that should be English is Estonian, or the other way round.

    `known` are words, in small letters, that an answer may hold in any language: those of the data and the question.
    Fewer than four own words are not judged, and fewer than six only by everyday words among them.
    """
    own = _own_words(text, known)
    if len(own) < _FEW_WORDS:
        return False
    other = _OTHER[language]
    right, wrong = (sum(word in _everyday(one) for word in own) for one in (language, other))
    if right or wrong:
        return wrong >= _CLEAR and wrong > 2 * right
    if len(own) < _ENOUGH_WORDS:
        return False
    found = likelihoods(" ".join(own))
    return found[other] > _SURE * (found[other] + found[language])


def _own_words(text: str, known: Collection[str]) -> list[str]:
    own = []
    for found in _WORD.finditer(text):
        word = found["word"]
        folded = word.lower()
        is_name = not word.islower() and (found["opens"] is None or not word[1:].islower())
        if not is_name and folded not in known:
            own.append(folded)
    return list(dict.fromkeys(own))


@cache
def _everyday(language: Language) -> frozenset[str]:
    """Words that belong to this language alone."""
    said = {one: {word for phrase in phrases("language.words", one) for word in phrase.split()} for one in _OTHER}
    return frozenset((said[language] | _SAID[language]) - said[_OTHER[language]] - _SAID[_OTHER[language]] - _BOTH)
