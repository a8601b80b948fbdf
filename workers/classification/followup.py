"""Recognises a question that leans on the one before it: "and in Latvia?", "aga homme?", "а в Риге?". Pure."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.conversations import Utterance
from schemas.endpoints import Language
from workers.classification.choices import is_payload
from workers.classification.requests import is_bare_value
from workers.classification.smalltalk import small_talk
from workers.classification.vocabulary import vocabulary
from workers.classification.words import split_words

_FEW_WORDS = 2


def question_followed_up(text: str, said: Sequence[Utterance], *, wording: Language) -> str | None:
    """Return the earlier question that an elliptic one repeats with another value, or None."""
    words = split_words(text)
    opener = vocabulary("follow.openers").match([word.folded for word in words], 0)
    if not opener or opener == len(words):
        return None
    is_brief = len(words) - opener <= _FEW_WORDS
    if not is_brief and not is_bare_value(text[words[opener].start :], wording):
        return None
    earlier = (u.text for u in reversed(said) if u.role == "user")
    return next((asked for asked in earlier if not is_payload(asked) and small_talk(asked) is None), None)
