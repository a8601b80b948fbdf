"""Recognises names of countries, currencies, languages and towns in any of their case forms, and gives their codes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from schemas.endpoints import LANGUAGES, Language
from workers.extraction.text import Text, fold, overlaps, words_of
from workers.extraction.wording import holds, plain_words
from workers.messages.catalog import phrases

NameKind = Literal["countries", "currencies", "languages", "cities"]

_ESTONIAN_ENDING = re.compile(
    r"(?:[aeiou]|se)?(?:s|st|sse|le|l|lt|ni|ga|ta|ks|t|d|de|te(?:s|st|sse|ks|ga)?|de(?:s|st|sse|ks|ga)?)?"
)
_RUSSIAN_ENDING = re.compile(r"[аеиоуыэюяь]{0,2}(?:м|х|ми|в|го|му)?")
_RUSSIAN_VOWEL = re.compile(r"[аеиоуыэюяь]{1,2}$")
_ENGLISH_ENDING = re.compile(r"(?:'s|s')?")
_SHORTEST_PREFIX = 3
_CODE = re.compile(r"(?<![\w.@-])[A-Z]{2,3}(?![\w@-])")
_CODE_LENGTHS: dict[NameKind, tuple[int, ...]] = {"countries": (2, 3), "currencies": (3,), "languages": (2,)}
# Capitals that are words before they are codes.
_WORDS_IN_CAPITALS = frozenset(
    {"OK", "ID", "IT", "NO", "TO", "IN", "IS", "AM", "BE", "AS", "ME", "SO", "PM", "MY", "DO"}
)


@dataclass(frozen=True)
class Name:
    """One name of one thing. `codes`: the thing's codes, the usual one first (for a town: its own name)."""

    words: tuple[str, ...]
    codes: tuple[str, ...]
    language: Language
    written: str


@dataclass(frozen=True, kw_only=True)
class NameMention:
    """A thing that was named, or its code. `ending` is the case ending of the last word ("st" in Tallinnast)."""

    start: int
    end: int
    codes: tuple[str, ...]
    name: str = ""
    ending: str = ""


def is_form_of(word: str, base: str, language: Language) -> bool:
    """Whether a folded word is the base or one of its case forms in that language."""
    if word == base:
        return True
    if language == "ru":
        stem = _RUSSIAN_VOWEL.sub("", base)
        is_long = len(stem) >= _SHORTEST_PREFIX
        return is_long and word.startswith(stem) and _RUSSIAN_ENDING.fullmatch(word[len(stem) :]) is not None
    ending = _ESTONIAN_ENDING if language == "et" else _ENGLISH_ENDING
    return len(base) >= _SHORTEST_PREFIX and word.startswith(base) and ending.fullmatch(word[len(base) :]) is not None


@cache
def index_of(kind: NameKind) -> dict[str, tuple[Name, ...]]:
    """Read the catalogue's lists into prefix → names, the longest names first."""
    found: dict[str, list[Name]] = defaultdict(list)
    for language in LANGUAGES:
        for line in phrases(f"names.{kind}", language):
            codes, _, names = line.partition(": ")
            for written in names.split(" | "):
                words = tuple(word.folded for word in words_of(fold(written))) or (written,)
                found[_prefix(words[0])].append(
                    Name(words, (codes,) if kind == "cities" else tuple(codes.split()), language, written)
                )
    return {prefix: tuple(sorted(names, key=lambda n: -len(n.words))) for prefix, names in found.items()}


def _prefix(word: str) -> str:
    return word[:_SHORTEST_PREFIX]


def names_in(text: Text, kind: NameKind) -> list[NameMention]:
    """Find the things of that kind, by name in any language and case, or by code in capitals; in order."""
    found = list(_by_name(text, kind))
    taken = [(mention.start, mention.end) for mention in found]
    found.extend(code for code in _by_code(text, kind) if not overlaps(code.start, code.end, taken))
    found.extend(_by_sign(text, kind))
    return sorted(found, key=lambda mention: mention.start)


def _by_name(text: Text, kind: NameKind) -> Iterator[NameMention]:
    index, words = index_of(kind), text.words
    i = 0
    while i < len(words):
        name = next((n for n in index.get(_prefix(words[i].folded), ()) if _stands_at(n, text, i)), None)
        if name is None:
            i += 1
            continue
        last = words[i + len(name.words) - 1]
        yield NameMention(
            start=words[i].start,
            end=last.end,
            codes=name.codes,
            name=name.written,
            ending=_ending(last.folded, name.words[-1]),
        )
        i += len(name.words)


def _ending(word: str, base: str) -> str:
    return word[len(base) :] if word.startswith(base) else word[-1:]


def _stands_at(name: Name, text: Text, place: int) -> bool:
    words = text.words[place : place + len(name.words)]
    if len(words) < len(name.words):
        return False
    *firsts, last = name.words
    inner = all(is_form_of(word.folded, base, name.language) for word, base in zip(words, firsts, strict=False))
    if not inner or not is_form_of(words[-1].folded, last, name.language):
        return False
    # "turkey", "chad", "mali", "won" are words too: short one-word names must be written as names.
    is_name = text.raw[words[0].start : words[0].start + 1].isupper() or name.written[:1].islower()
    return is_name or len(text.words) <= len(name.words) + 2 or len(last) > _SHORTEST_PREFIX + 1


def _by_code(text: Text, kind: NameKind) -> Iterator[NameMention]:
    known = codes_of(kind)
    whole = text.raw.strip()
    if whole.islower() and len(text.words) == 1 and whole.upper() in known and not _is_said(whole):
        start = text.raw.index(whole)
        yield NameMention(start=start, end=start + len(whole), codes=known[whole.upper()], name=whole.upper())
        return
    is_shouted = text.raw.isupper() and len(text.words) > 2  # noqa: PLR2004 - "EE 2026" is not shouting
    for match in _CODE.finditer(text.raw):
        written = match.group()
        codes = known.get(written)
        is_word = written in _WORDS_IN_CAPITALS and len(text.words) > 1
        if codes and not is_shouted and not is_word and len(written) in _CODE_LENGTHS.get(kind, ()):
            yield NameMention(start=match.start(), end=match.end(), codes=codes, name=written)


def _is_said(word: str) -> bool:
    """Whether a short word is one that people answer with ("no" is rarely Norway)."""
    return word.upper() in _WORDS_IN_CAPITALS or any(holds(plain_words(word), key) for key in ("yes", "no", "fillers"))


@cache
def codes_of(kind: NameKind) -> dict[str, tuple[str, ...]]:
    """Return every code in capitals, with all the codes of its thing."""
    names = (name for names in index_of(kind).values() for name in names)
    return {code.upper(): name.codes for name in names for code in name.codes} if kind != "cities" else {}


@cache
def _signs() -> dict[str, tuple[str, ...]]:
    return {
        n.written: n.codes for names in index_of("currencies").values() for n in names if not n.written[0].isalpha()
    }


def _by_sign(text: Text, kind: NameKind) -> Iterable[NameMention]:
    if kind != "currencies":
        return ()
    signs = _signs()
    return (NameMention(start=i, end=i + 1, codes=signs[char]) for i, char in enumerate(text.raw) if char in signs)
