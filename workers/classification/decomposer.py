"""Splits a message that asks for several things into sub-queries that stand alone. Pure and conservative.

Two readings, surest first:

explicit   every part opens a request of its own: "find an address and calculate my tax"
elided     parts share one opening: "find an address and my vehicle tax" → "find an address", "find my vehicle tax".
           Coordination of names, dates or ranges ("Estonia and Latvia", "May and June") never splits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from schemas.endpoints import Language
from workers.classification.requests import content, is_about_something, opener_end, opens_outright
from workers.classification.vocabulary import vocabulary
from workers.classification.words import Word, is_entity, split_words

_ASIDE = re.compile(r"\([^()]*\)")
_SENTENCE_END = re.compile(r"(?<=[?!;])\s+|(?<=[^\W\d]{2}\.)\s+(?=[^\W\d_])|\n+")
_LONGEST_ELIDED_WORDS = 10
_LONGEST_ANNOUNCEMENT = 6


@dataclass(frozen=True, kw_only=True)
class Decomposition:
    """The parts of a message, in order; one part means that nothing was split.

    `is_explicit` says which reading; `adds`: an elided one, whose speaker said that something is added ("and also").
    """

    parts: tuple[str, ...]
    is_explicit: bool = True
    adds: bool = False

    @property
    def is_split(self) -> bool:
        return len(self.parts) > 1


@dataclass(frozen=True, kw_only=True)
class _Joint:
    """A place where a sentence could be cut: the words that join stand at `start`…`end` (in words)."""

    start: int
    end: int
    is_comma: bool


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A piece of the message; `is_joined` says that a conjunction stands before it, not a full stop or a comma."""

    text: str
    is_joined: bool


def decompose(text: str, language: Language) -> Decomposition:
    """Split the message into its requests. What stands in brackets belongs to no part."""
    body = " ".join(_ASIDE.sub(" ", text).split()) if _ASIDE.search(text) else text.strip()
    body = _without_announcement(body, language)
    sentences = [sentence for sentence in _SENTENCE_END.split(body) if split_words(sentence)]
    explicit = _merged([part for sentence in sentences for part in _explicit(sentence, language)], language)
    if len(explicit) > 1:
        return Decomposition(parts=explicit)
    elided = _elided(sentences[0], language) if len(sentences) == 1 else ()
    if len(elided) > 1:
        return Decomposition(parts=elided, is_explicit=False, adds=_adds(sentences[0], language))
    return Decomposition(parts=(text,))


def _without_announcement(text: str, language: Language) -> str:
    """Leave out what only says that something is asked: "I have two questions: …"."""
    head, colon, rest = text.partition(":")
    words = [word.folded for word in split_words(head)]
    announcing = vocabulary("split.announcing", language=language)
    is_announcement = bool(colon) and 0 < len(words) <= _LONGEST_ANNOUNCEMENT and words[-1] in announcing
    return rest.strip() if is_announcement and split_words(rest) else text


def _explicit(sentence: str, language: Language) -> Iterable[_Part]:
    """Cut a sentence before every joint behind which a request opens."""
    words = split_words(sentence)
    start = vocabulary("split.joins", language=language).match([word.folded for word in words], 0)
    is_joined = False
    for joint in _joints(sentence, words, language):
        opens = _opens(words[joint.end :], joint, language)
        if opens and joint.start > start and not _is_narration(words[start : joint.start], language):
            yield _Part(text=_between(sentence, words, start, joint.start), is_joined=is_joined)
            start, is_joined = joint.end, not joint.is_comma
    if start < len(words):
        yield _Part(text=_between(sentence, words, start, len(words)), is_joined=is_joined)


def _merged(parts: Sequence[_Part], language: Language) -> tuple[str, ...]:
    """Join each part that cannot be searched by itself to the one before it (the first, to the one after)."""
    merged: list[_Part] = []
    for part in parts:
        if merged and not (_can_precede(merged[-1], part, language) and _can_follow(part, language)):
            merged[-1] = replace(merged[-1], text=f"{merged[-1].text} {part.text}")
        else:
            merged.append(part)
    return tuple(part.text.strip(" ,;") for part in merged)


def _can_precede(part: _Part, following: _Part, language: Language) -> bool:
    """Whether a part is a request by itself; what is followed by a new sentence or a comma must open like one."""
    words = split_words(part.text)
    if not is_about_something(part.text, language) or _is_narration(words, language):
        return False
    return following.is_joined or opens_outright([word.folded for word in words], language)


def _can_follow(part: _Part, language: Language) -> bool:
    """Whether a part opens a request of its own. After a full stop a mere wish ("I need two rooms.") is a detail."""
    words = [word.folded for word in split_words(part.text)]
    opens = opener_end(words, 0, language) > 0 if part.is_joined else opens_outright(words, language)
    return opens and is_about_something(part.text, language)


def _elided(sentence: str, language: Language) -> tuple[str, ...]:
    """Cut at joints between things of the same rank, and give each the opening that they share."""
    words = split_words(sentence)
    joints = _joints(sentence, words, language)
    if not any(_is_plain_and(words, joint, language) for joint in joints):
        return (sentence,)
    if _is_narration(words, language) or _is_in_range(words, language):
        return (sentence,)
    opening_end = _shared_opening_end([word.folded for word in words], language)
    bounds = [0, *(bound for joint in joints for bound in (joint.start, joint.end)), len(words)]
    spans = _with_details(list(zip(bounds[::2], bounds[1::2], strict=True)), words, joints, language)
    items = [words[a:b] for a, b in spans]
    if not items[0][opening_end:] or not all(_is_thing(item, language, at) for at, item in enumerate(items)):
        return (sentence,)
    opening = _between(sentence, words, 0, opening_end) if opening_end else ""
    first, *rest = (_between(sentence, words, a, b) for a, b in spans)
    return (first, *(f"{opening} {part}".strip() for part in rest))


def _with_details(
    spans: Sequence[tuple[int, int]], words: Sequence[Word], joints: Sequence[_Joint], language: Language
) -> list[tuple[int, int]]:
    """Leave a name or a value behind a bare comma with what it belongs to: "the postcode of Lai 29, Tartu"."""
    kept = [spans[0]]
    for (start, end), joint in zip(spans[1:], joints, strict=True):
        is_detail = joint.is_comma and not content(words[start:end], language)
        if is_detail:
            kept[-1] = (kept[-1][0], end)
        else:
            kept.append((start, end))
    return kept


def _adds(sentence: str, language: Language) -> bool:
    """Whether a conjunction says outright that something is added: "and also", "ja ka", "а также"."""
    words = split_words(sentence)
    folded = [word.folded for word in words]
    adding = vocabulary("split.adding_joins", language=language)
    return any(adding.match(folded, joint.start) > joint.start for joint in _joints(sentence, words, language))


def _shared_opening_end(words: Sequence[str], language: Language) -> int:
    """Return where the part that all things share ends: the opening and its verb ("what is", "mis on")."""
    end = opener_end(words, 0, language)
    copulas = vocabulary("split.copulas", language=language)
    return copulas.match(words, end) if end else 0


def _joints(sentence: str, words: Sequence[Word], language: Language) -> list[_Joint]:
    """Find conjunctions ("and", "&") and commas, each with the conjunction that follows it."""
    joins = vocabulary("split.joins", language=language)
    folded = [word.folded for word in words]
    found: list[_Joint] = []
    at = 1
    while at < len(words):
        between = sentence[words[at - 1].end : words[at].start]
        end = joins.match(folded, at)
        is_sign = any(mark in between for mark in "&+")
        if end > at or is_sign or any(mark in between for mark in ",;"):
            found.append(_Joint(start=at, end=end, is_comma=end == at and not is_sign))
        at = max(end, at + 1)
    return found


def _opens(words: Sequence[Word], joint: _Joint, language: Language) -> bool:
    """Whether a request opens at these words; after a bare comma a question word may only open a relative clause."""
    folded = [word.folded for word in words]
    end = opener_end(folded, 0, language)
    if end == 0:
        return False
    return not (joint.is_comma and vocabulary("split.relatives", language=language).match(folded, 0))


def _is_narration(words: Sequence[Word], language: Language) -> bool:
    """Whether the words tell something about the speaker ("I live in Tartu") and so belong to what follows."""
    folded = [word.folded for word in words]
    return folded[0] in vocabulary("request.speakers", language=language) and opener_end(folded, 0, language) == 0


def _is_in_range(words: Sequence[Word], language: Language) -> bool:
    return any(word.folded in vocabulary("split.ranges", language=language) for word in words)


def _is_plain_and(words: Sequence[Word], joint: _Joint, language: Language) -> bool:
    """Whether the joint is a conjunction, so that the sentence is a list and no mere enumeration of details."""
    if joint.start == joint.end:
        return not joint.is_comma
    folded = [word.folded for word in words[joint.start : joint.end]]
    return vocabulary("split.weak_joins", language=language).match(folded, 0) > 0


def _is_thing(words: Sequence[Word], language: Language, at: int) -> bool:
    """Whether a list item names a thing of its own: not a name, a date, nor a further place for the same thing."""
    if not words or (at and len(words) > _LONGEST_ELIDED_WORDS):
        return False
    if at and (_opens_differently(words, language) or (is_entity(words[-1]) and not content(words[:2], language))):
        return False
    # The capital of a message's first word tells nothing where more words follow: "Ilm Tartus" names a thing.
    opens = not at and len(words) > 1
    return bool(content([words[0].in_small(), *words[1:]] if opens else words, language))


def _opens_differently(words: Sequence[Word], language: Language) -> bool:
    """Whether the words start with a preposition, a pronoun or a number, or open a request that leans on another."""
    folded = [word.folded for word in words]
    clause = vocabulary("split.prepositions", "request.pronouns", "request.subjects", language=language)
    return folded[0] in clause or folded[0].isdigit() or opener_end(folded, 0, language) > 0


def _between(sentence: str, words: Sequence[Word], start: int, end: int) -> str:
    """Cut the sentence from one word to before another, with the punctuation that belongs there."""
    stop = words[end].start if end < len(words) else len(sentence)
    return sentence[words[start].start : stop].rstrip(" ,;&+")
