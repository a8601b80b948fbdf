"""Reads what a question wants of a result that is already there: how many, which is the longest, when, whose.

Two rooms need the same reading: one judges whether a question can be answered from a result, the other answers it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from schemas.endpoints import Language
from workers.messages.catalog import text
from workers.messages.hearing import Word, fold, is_form_of, lexicon, named_lexicon

Wish = Literal["counts", "all", "totals", "ordinals", "superlatives", "concepts", "fields"]

_SIMPLE: tuple[Wish, ...] = ("counts", "all", "totals")
_NAMED: tuple[Wish, ...] = ("ordinals", "superlatives", "concepts")
_NONE: frozenset[int] = frozenset()
_SPOKEN = "openers same corrections negations polite thanks small back asks actions howto drops days"
FUNCTION_LISTS = tuple(f"followup.{name}" for name in ("openers", "small", "asks", "back", "polite", "thanks"))
_LISTS = tuple(f"followup.{name}" for name in _SPOKEN.split())
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
_SHORTEST_KEY = 3

# What a result must carry, by words of its keys, for one of its items to be the most in that way.
DIMENSIONS: dict[str, frozenset[str]] = {
    "length": frozenset(("duration", "days", "minutes", "length", "end", "arrival", "closes")),
    "price": frozenset(("price", "amount", "fee", "cost", "cents", "tax", "fine", "sum", "total")),
    "time": frozenset(("date", "time", "start", "due", "departure", "arrival", "opens", "founded", "year")),
    "coming": frozenset(("date", "time", "start", "due", "departure")),
    "size": frozenset(),
}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One thing that is asked: its sort, what it names ("length max", "-1", words of keys), and its words (end open).

    The value of `fields` is the key that was named, of `concepts` the words of keys that may carry it.
    """

    wish: Wish
    value: str
    first: int
    end: int


def wanted(words: tuple[Word, ...], language: Language, *, fields: Iterable[str] = ()) -> tuple[Wanted, ...]:
    """Find everything that is asked, in order. `fields` are the result's keys, which may be named by their own words.

    At one place the longest phrase of a sort counts; phrases of different sorts may share words ("how many" is a
    count, and "how" an amount's). Concepts that no key carries are left out.
    """
    keys = tuple(dict.fromkeys(fields))
    errors = unheard(words, language)
    found = [each for at in range(len(words)) for each in _at(words, at, language, errors)]
    carried = frozenset(word for key in keys for word in words_of_key(key))
    if "currency" not in carried:
        carried -= {"total"}  # a count of things is no amount of money
    kept = [each for each in found if each.wish != "concepts" or carried & set(each.value.split())]
    return (*_longest(kept), *_named_fields(words, keys, language, errors))


def words_of_key(key: str) -> tuple[str, ...]:
    """Cut a key, or a path of keys, into lower-case words: "payments.dueDate" → payments, due, date."""
    return tuple(word.lower() for word in _HUMP.split(key) if word)


@lru_cache(maxsize=64)
def unheard(words: tuple[Word, ...], language: Language) -> frozenset[int]:
    """Places of words that no list of follow-ups knows as they are written: only these may be misspelt."""
    known: set[int] = set()
    for at in range(len(words)):
        ends = [lexicon(key, language).match(words, at) for key in _LISTS]
        ends += [each.end for each in _at(words, at, language, _NONE)]
        known.update(range(at, max(ends)))
    return frozenset(range(len(words))) - known


def _at(words: Sequence[Word], at: int, language: Language, errors: frozenset[int]) -> Iterator[Wanted]:
    for wish in _SIMPLE:
        if (end := lexicon(f"asked.{wish}", language).match(words, at, errors=errors)) > at:
            yield Wanted(wish=wish, value="", first=at, end=end)
    for wish in _NAMED:
        names = named_lexicon(f"asked.{wish}", language).names(words, at, errors=errors)
        yield from (Wanted(wish=wish, value=value, first=at, end=end) for value, end in names.items())


def _longest(found: Sequence[Wanted]) -> Iterator[Wanted]:
    """Drop what lies inside a longer phrase of the same sort."""
    for each in found:
        same = (other for other in found if other.wish == each.wish and other is not each)
        inside = any(
            o.first <= each.first and each.end <= o.end and o.end - o.first > each.end - each.first for o in same
        )
        if not inside:
            yield each


def _named_fields(
    words: Sequence[Word], keys: Sequence[str], language: Language, errors: frozenset[int]
) -> Iterator[Wanted]:
    plain = [*FUNCTION_LISTS, *(f"asked.{wish}" for wish in _SIMPLE)]
    taken = {at for at, word in enumerate(words) if any(word.folded in lexicon(key, language) for key in plain)}
    for key in keys:
        said = said_as(key.rsplit(".", 1)[-1], language)
        for at, word in enumerate(words):
            if at not in taken and any(is_form_of(word.folded, own, language, errors=at in errors) for own in said):
                yield Wanted(wish="fields", value=key, first=at, end=at + 1)


@cache
def said_as(key: str, language: Language) -> tuple[str, ...]:
    """The words by which people would name a key: its own, and the glossary's."""
    own = words_of_key(key)
    try:
        glossary = text(f"field.{'_'.join(own)}", language).split()
    except KeyError:
        glossary = []
    return tuple(fold(word) for word in (*own, *glossary) if len(word) >= _SHORTEST_KEY)
