"""Recognises small talk and questions about the conversation itself, in three languages. Pure.

A message is small talk only when phrases of small talk cover all of it: "hello, what are the public holidays?" is a
request, "hello, what can you do?" is not.
"""

from __future__ import annotations

from enum import StrEnum

from workers.classification.vocabulary import vocabulary
from workers.classification.words import folded_words


class Talk(StrEnum):
    """Kinds of small talk; later ones outweigh earlier ones when a message holds several."""

    AGREED = "agreed"
    DECLINED = "declined"
    GREETING = "greeting"
    COMPLIMENT = "compliment"
    THANKS = "thanks"
    GOODBYE = "goodbye"
    HOW_ARE_YOU = "how_are_you"
    CANCELLED = "cancelled"
    REPEAT = "repeat"
    IDENTITY = "identity"
    ABILITIES = "abilities"
    SUMMARY = "summary"
    FIRST_QUESTION = "first_question"
    LAST_QUESTION = "last_question"
    UNCLEAR = "unclear"


_HEARD = tuple(kind for kind in Talk if kind is not Talk.UNCLEAR)
_WEIGHT = {kind: weight for weight, kind in enumerate(Talk)}
# Inside an open collection these words answer or steer it, so they belong to it.
STEERING = frozenset({Talk.AGREED, Talk.DECLINED, Talk.CANCELLED, Talk.UNCLEAR})


def small_talk(text: str) -> Talk | None:
    """Return the kind of small talk that the whole message is, or None for anything else.

    A message without a letter or digit is UNCLEAR.
    """
    said = folded_words(text)
    if not said:
        return Talk.UNCLEAR
    words = [word for word in said if word not in vocabulary("hear.polite")]
    found: list[Talk] = []
    at = 0
    while at < len(words):
        end, kind = max(((vocabulary(f"hear.{kind}").match(words, at), kind) for kind in _HEARD), key=_longest_heaviest)
        if end > at:
            found.append(kind)
        else:
            end = vocabulary("hear.fillers").match(words, at)
        if end == at:
            return None
        at = end
    return max(found, key=_WEIGHT.__getitem__, default=Talk.AGREED if not words else None)


def _longest_heaviest(found: tuple[int, Talk]) -> tuple[int, int]:
    return found[0], _WEIGHT[found[1]]
