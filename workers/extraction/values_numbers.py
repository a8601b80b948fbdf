"""Numbers as people write and say them: `1 234,56`, `1.234,56`, `1,234.56`, "kakskümmend viis", "двадцать пять"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from schemas.endpoints import LANGUAGES, Language
from workers.extraction.text import Text
from workers.messages.catalog import phrases

Number = int | float

_NUMBER = re.compile(
    r"""(?<![\w.,:/^])(?<!\w[-])(?P<sign>[-+](?=\d))?
    (?: (?P<spaced>\d{1,3}(?:[ ']\d{3})+)(?:[.,](?P<spaced_rest>\d+))?
      | (?P<commas>\d{1,3}(?:,\d{3})+)(?:\.(?P<commas_rest>\d+))?
      | (?P<dots>\d{1,3}(?:\.\d{3})+)(?:,(?P<dots_rest>\d+))?
      | (?P<plain>\d+)(?:[.,](?P<plain_rest>\d+))?(?P<power>e[-+]?\d{1,3}(?!\w))?
    )(?![.,:/]?\d)(?!\.\d)
    (?P<unit>[ ]?(?:million\w*|mln|miljon\w*|миллион\w*|млн|thousand|tuhat|tuhande\w*|тысяч\w*|тыс|k(?=\W|$)))?
    (?![a-zа-я]*\d)""",
    re.VERBOSE,
)
_PERCENT = re.compile(r"\s?(?:%|percent|protsen\w*|процент\w*)")
# "12 1/2" and "12½" are one number; a piece of it would be a wrong one.
_FRACTION = re.compile(r" ?(?P<sign>[½¼¾])| (?P<upper>[1-9])/(?P<lower>[2-9])(?![\d/.])")
_FRACTION_SIGNS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_MILLIONS = ("m", "м")
_HUNDRED = 100


@dataclass(frozen=True, kw_only=True)
class NumberMention:
    """A number and where it stands.

    `other` is what it might also mean (1.234 in Estonian); `spelled`: it was said in words; `is_percentage`: a percent
    sign or word follows.
    """

    start: int
    end: int
    value: Number
    other: Number | None = None
    spelled: bool = False
    is_percentage: bool = False


def numbers(text: Text, language: Language) -> list[NumberMention]:
    """Find the numbers in order. The language decides what a lone comma or dot before three digits means."""
    found = [mention for match in _NUMBER.finditer(text.folded) if (mention := _read(match, language)) is not None]
    return sorted([*found, *_spelled(text)], key=lambda mention: mention.start)


def _read(match: re.Match[str], language: Language) -> NumberMention | None:
    kind = next(name for name in ("spaced", "commas", "dots", "plain") if match[name] is not None)
    whole = re.sub(r"\D", "", match[kind])
    rest = match[f"{kind}_rest"]
    value = _amount(match["sign"], whole, rest, match["unit"])
    if match["power"]:
        value = float(f"{value}{match['power']}")
    fraction = None if rest or match["unit"] or kind != "plain" else _FRACTION.match(match.string, match.end())
    if fraction and (added := _added(fraction)):
        return NumberMention(start=match.start(), end=fraction.end(), value=value + (added if value >= 0 else -added))
    other: Number | None = None
    is_lone_group = kind in ("commas", "dots") and rest is None and len(match[kind]) - len(whole) == 1
    if is_lone_group:
        head, tail = re.split(r"[.,]", match[kind])
        as_fraction = _amount(match["sign"], head, tail, match["unit"])
        fraction_mark = "dots" if language == "en" else "commas"
        if head.startswith("0") or kind == fraction_mark:
            value = as_fraction
        elif language != "en":
            other = as_fraction
    is_percentage = _PERCENT.match(match.string, match.end()) is not None
    return NumberMention(start=match.start(), end=match.end(), value=value, other=other, is_percentage=is_percentage)


def _added(fraction: re.Match[str]) -> float:
    """Return what a fraction adds; 0 when it is none (6/3)."""
    if fraction["sign"]:
        return _FRACTION_SIGNS[fraction["sign"]]
    upper, lower = int(fraction["upper"]), int(fraction["lower"])
    return upper / lower if upper < lower else 0.0


def _amount(sign: str | None, whole: str, rest: str | None, unit: str | None) -> Number:
    written = f"{'-' if sign == '-' else ''}{whole}" + (f".{rest}" if rest else "")
    number: Number = float(written) if rest else int(written)
    if not unit:
        return number
    times = 1_000_000 if unit.strip().startswith(_MILLIONS) else 1_000
    scaled = number * times
    return int(scaled) if float(scaled).is_integer() else scaled


def parse_number(written: str, language: Language) -> Number | None:
    """Read a text that is one number and nothing else; None otherwise, and when it has two readings."""
    text = Text.of(written.strip())
    found = numbers(text, language)
    if len(found) != 1 or found[0].other is not None:
        return None
    is_whole = found[0].start == 0 and found[0].end == len(text.raw)
    return found[0].value if is_whole else None


@cache
def _number_words() -> tuple[dict[str, int], frozenset[str]]:
    """Read the catalogue's "20: twenty, …" lines into word → value, with the words that are also ordinary ones."""
    values: dict[str, int] = {}
    for language in LANGUAGES:
        for line in phrases("hearing.numbers", language):
            number, _, words = line.partition(":")
            values |= {word.strip(): int(number) for word in words.split(",")}
    return values, frozenset(values)


def word_value(word: str) -> int | None:
    """Return the value of one folded number word up to a hundred."""
    return _number_words()[0].get(word)


def _spelled(text: Text) -> list[NumberMention]:
    found: list[NumberMention] = []
    words = text.words
    i = 0
    while i < len(words):
        value = word_value(words[i].folded)
        if value is None:
            i += 1
            continue
        last = i
        if value % 10 == 0 and 0 < value < _HUNDRED and i + 1 < len(words):
            unit = word_value(words[i + 1].folded)
            gap = text.folded[words[i].end : words[i + 1].start]
            if unit is not None and 0 < unit < 10 and gap in (" ", "-"):  # noqa: PLR2004 - the units follow the tens
                value, last = value + unit, i + 1
        found.append(NumberMention(start=words[i].start, end=words[last].end, value=value, spelled=True))
        i = last + 1
    return found
