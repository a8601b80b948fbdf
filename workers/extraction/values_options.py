"""Finds which of a parameter's allowed values somebody named: by value, label or synonym, in any case form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from schemas.endpoints import EnumOption, Language
from workers.extraction.text import Text, Word, fold, overlaps, readable, words_of
from workers.extraction.values_names import NameKind, codes_of, is_form_of, names_in

_LANGUAGES: tuple[Language, ...] = get_args(Language)
_CODE_LENGTH = 3
_SHORTEST_TYPO = 5
_SHORTEST_UNASKED_TYPO, _LONGEST_ENDING = 7, 3
_SHORTEST_DOUBLE_TYPO = 9
_NAMED_KINDS: tuple[NameKind, ...] = ("countries", "currencies", "languages")


@dataclass(frozen=True, kw_only=True)
class OptionMention:
    """One allowed value that was named; `ending` is the case ending of its last word."""

    start: int
    end: int
    value: str
    ending: str = ""


@dataclass(frozen=True)
class Wording:
    """One way to name an allowed value; `languages` whose case forms it may take."""

    words: tuple[str, ...]
    written: str
    value: str
    languages: tuple[Language, ...]


def wordings_of(options: Sequence[EnumOption]) -> tuple[Wording, ...]:
    """List every value, label and synonym, those of most words first."""
    found: list[Wording] = []
    for option in options:
        said: list[tuple[str, tuple[Language, ...]]] = [(option.value, ()), (readable(option.value), ("en",))]
        said += [(label, (language,)) for language, label in option.labels.items()]
        said += [(synonym, _LANGUAGES) for synonym in option.synonyms]
        for written, languages in said:
            words = tuple(word.folded for word in words_of(fold(written)))
            found.append(Wording(words, written, option.value, languages))
    return tuple(sorted(found, key=lambda wording: -len(wording.words)))


def options_in(text: Text, wordings: Sequence[Wording]) -> list[OptionMention]:
    """Find the allowed values that were named, in order; longer wordings win."""
    found: list[OptionMention] = []
    for wording in wordings:
        for mention in _stands(wording, text):
            if not overlaps(mention.start, mention.end, [(other.start, other.end) for other in found]):
                found.append(mention)
    for mention in _by_common_name(text, wordings):
        if not overlaps(mention.start, mention.end, [(other.start, other.end) for other in found]):
            found.append(mention)
    return sorted(found, key=lambda mention: mention.start)


def _stands(wording: Wording, text: Text) -> Iterator[OptionMention]:
    if not wording.words:
        place = text.raw.find(wording.written) if wording.written.strip() else -1
        if place >= 0:
            yield OptionMention(start=place, end=place + len(wording.written), value=wording.value)
        return
    length = len(wording.words)
    opening = wording.words[0][:2]
    for place in range(len(text.words) - length + 1):
        if text.words[place].folded[:2] != opening:
            continue
        there = text.words[place : place + length]
        if _is_wording(there, wording, text):
            last = there[-1].folded
            ending = last[len(wording.words[-1]) :] if last.startswith(wording.words[-1]) else last[-1:]
            yield OptionMention(start=there[0].start, end=there[-1].end, value=wording.value, ending=ending)


def _is_wording(there: Sequence[Word], wording: Wording, text: Text) -> bool:
    if all(word.folded == said for word, said in zip(there, wording.words, strict=True)):
        is_code = len(wording.words) == 1 and wording.words[0].isalpha() and len(wording.words[0]) <= _CODE_LENGTH
        written = text.between(there[0].start, there[-1].end)
        return not is_code or written == wording.written or len(text.words) == 1
    return any(
        all(is_form_of(word.folded, said, language) for word, said in zip(there, wording.words, strict=True))
        for language in wording.languages
    )


def _by_common_name(text: Text, wordings: Sequence[Wording]) -> Iterator[OptionMention]:
    """Hear countries, currencies and languages by their common names when the allowed values are their codes."""
    values = {wording.value.upper(): wording.value for wording in wordings}
    for kind in _NAMED_KINDS:
        if values.keys() <= codes_of(kind).keys():
            for mention in names_in(text, kind):
                value = next((values[code.upper()] for code in mention.codes if code.upper() in values), None)
                if value is not None:
                    yield OptionMention(start=mention.start, end=mention.end, value=value, ending=mention.ending)
            return


def misspelled_option(text: Text, wordings: Sequence[Wording], *, is_asked: bool = True) -> OptionMention | None:
    """Find the one allowed value that a word of the message misspells by a letter (two in long words).

    Where it was not asked for, only long words count, and one letter; such a word may have a case ending.
    """
    singles = [wording for wording in wordings if len(wording.words) == 1]
    hits = {
        (wording.value, word.start, word.end)
        for word in text.words
        for wording in singles
        if (_is_typo if is_asked else _is_plain_typo)(word.folded, wording.words[0])
    }
    if len({value for value, _, _ in hits}) != 1:
        return None
    value, start, end = min(hits)
    return OptionMention(start=start, end=end, value=value)


def _is_typo(word: str, meant: str) -> bool:
    if len(meant) < _SHORTEST_TYPO or len(word) < _SHORTEST_TYPO - 1 or word[0] != meant[0]:
        return False
    allowed = 2 if len(meant) >= _SHORTEST_DOUBLE_TYPO else 1
    return abs(len(word) - len(meant)) <= allowed and edits(word, meant) <= allowed


def _is_plain_typo(word: str, meant: str) -> bool:
    if len(meant) < _SHORTEST_UNASKED_TYPO or word[0] != meant[0] or word == meant:
        return False
    lengths = range(len(meant) - 1, len(meant) + 2)
    return any(len(word) - at in range(_LONGEST_ENDING + 1) and edits(word[:at], meant) == 1 for at in lengths)


def edits(word: str, meant: str) -> int:
    """Count the insertions, deletions, substitutions and swaps of neighbours between two words.

    Source: optimal string alignment, Damerau 1964.
    """
    before: list[int] = []
    above = list(range(len(meant) + 1))
    for i, char in enumerate(word, start=1):
        row = [i]
        for j, other in enumerate(meant, start=1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (char != other))
            if i > 1 and j > 1 and char == meant[j - 2] and word[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]
