"""Names of countries, currencies, languages and towns in any case form → codes, or the town's own name.

Names come from CLDR (through Babel); `data/names.toml` adds adjectives, short names and stems.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Literal

from babel import Locale

from workers.slotfilling.text import Found, fold, is_negated, words_of

Kind = Literal["countries", "currencies", "languages", "towns"]

_ENDINGS_EN = ("", "n", "'s", "s")
_ENDINGS_ET = ("", "s", "st", "sse", "l", "lt", "le", "ks", "ni", "na", "ga", "ta", "t", "d", "de", "is", "ist", "isse")
_LONGEST_NAME = 4
_SYMBOL = re.compile(r"[€$£¥₽₴]")
_FROM = re.compile(r"\b(?:from|out of|leaving|departing|из|от|с)\s+(?:the\s+)?$")
_TO = re.compile(r"\b(?:to|into|towards|в|на|до|kuni)\s+(?:the\s+)?$")


@cache
def _own() -> dict[str, dict[str, list[str]]]:
    text = (resources.files(__package__) / "data" / "names.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _russian_forms(name: str) -> Iterator[str]:
    yield name
    stem, last = name[:-1], name[-1]
    if name.endswith("ия"):
        yield from (stem + ending for ending in ("и", "ю", "ей"))
    elif last in "ая":
        yield from (stem + ending for ending in ("ы", "и", "е", "у", "ю", "ой", "ей"))
    elif last not in "оеиуыэю":
        yield from (name + ending for ending in ("а", "у", "ом", "е"))


@cache
def _exact(kind: Kind) -> dict[str, str]:
    """Return folded form → code for every form that can be written out."""
    table: dict[str, str] = {}
    if kind == "countries":
        for code, name in Locale("en").territories.items():
            if len(code) == 2 and code.isalpha() and code not in ("ZZ", "EU", "EZ", "UN", "XA", "XB"):
                table.update({fold(name) + ending: code for ending in _ENDINGS_EN})
                table.update({fold(Locale("et").territories[code]) + ending: code for ending in _ENDINGS_ET})
                table.update(dict.fromkeys(_russian_forms(fold(Locale("ru").territories[code])), code))
    for code, forms in _own()[kind].items():
        table.update({fold(form): code for form in forms if not form.endswith("*")})
    return table


@cache
def _stems(kind: Kind) -> tuple[tuple[re.Pattern[str], str], ...]:
    found = []
    for code, forms in _own()[kind].items():
        for form in forms:
            if "*" in form:
                pattern = re.escape(fold(form)).replace(r"\*", r"\w{0,6}").replace(r"\ ", r"\s+")
                found.append((re.compile(rf"(?<!\w){pattern}(?!\w)"), code))
    return tuple(found)


@cache
def codes(kind: Kind) -> frozenset[str]:
    """Return the codes themselves (ISO 3166-1 alpha-2, ISO 4217, ISO 639-1), upper case."""
    if kind == "currencies":
        return frozenset(Locale("en").currencies)
    if kind == "languages":
        return frozenset(code.upper() for code in Locale("en").languages if len(code) == 2)
    return frozenset(_exact(kind).values()) if kind == "countries" else frozenset()


def find_names(text: str, kind: Kind) -> list[Found]:
    """Return what the text names, in order; excluded names ("not Estonia") are left out."""
    found = sorted([*_written_out(text, kind), *_coded(text, kind)], key=lambda f: (f.start, f.start - f.end))
    kept: list[Found] = []
    for one in found:
        if not any(one.overlaps(other) for other in kept) and not is_negated(text, one.start):
            kept.append(one)
    return [Found(f.value, f.start, f.end, _role(text, f, kind)) for f in kept]


def _written_out(text: str, kind: Kind) -> Iterator[Found]:
    words = words_of(text)
    table = _exact(kind)
    at = 0
    while at < len(words):
        for size in range(min(_LONGEST_NAME, len(words) - at), 0, -1):
            phrase = " ".join(word.folded for word in words[at : at + size])
            if phrase in table:
                yield Found(table[phrase], words[at].start, words[at + size - 1].end)
                at += size - 1
                break
        at += 1
    folded = fold(text)
    for pattern, code in _stems(kind):
        yield from (Found(code, m.start(), m.end()) for m in pattern.finditer(folded))
    if kind == "currencies":
        yield from (Found(_exact(kind)[m.group()], m.start(), m.end()) for m in _SYMBOL.finditer(text))


def _coded(text: str, kind: Kind) -> Iterator[Found]:
    """Yield codes written as codes. In a text of capitals, or for words like "is", only a text that is the code counts."""
    known = codes(kind)
    is_alone = len(text.strip(" .,!?")) <= 3
    is_shouted = text.isupper() and len(text) > 12
    for word in words_of(text):
        if word.text.upper() in known and (is_alone or (word.text.isupper() and not is_shouted)):
            yield Found(word.text.upper(), word.start, word.end)


def _role(text: str, found: Found, kind: Kind) -> str:
    """Read from/to off the preposition before a name, or off its Estonian ending."""
    before = fold(text[max(0, found.start - 16) : found.start])
    if _FROM.search(before):
        return "start"
    if _TO.search(before) or (kind == "currencies" and before.endswith((" in ", " into "))):
        return "end"
    written = fold(text[found.start : found.end])
    if written.endswith(("st", "lt", "dest", "test")) and len(written) > 4:
        return "start"
    return "end" if written.endswith(("sse", "desse", "tesse", "ni")) and len(written) > 4 else ""
