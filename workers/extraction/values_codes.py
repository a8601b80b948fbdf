"""Recognises what has a form of its own: e-mail, phone, IBAN, plates, codes, addresses.

All are kept byte by byte, but for the spaces in an IBAN.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workers.extraction.kinds import Kind
from workers.extraction.text import Text, overlaps


@dataclass(frozen=True, kw_only=True)
class CodeMention:
    """Something written in a form of its own, as it was written."""

    start: int
    end: int
    written: str
    kind: Kind


_STREET = (
    r"tn\.?|tanav(?:al)?|mnt\.?|maantee(?:l)?|pst\.?|puiestee|pikk|tee|plats|valjak|allee|"
    r"street|st\.?|road|rd\.?|avenue|ave\.?|square|lane|ул\.?|улица|шоссе|проспект|пр\.?|бульвар|площадь"
)
_NAME = r"[^\W\d_][\w'.-]*"
_ADDRESS = re.compile(
    rf"(?:(?:ул\.?|улица|проспект|пр\.?|шоссе)\s+)?(?:{_NAME}\s+){{1,3}}?(?:(?:{_STREET})\s+)?\d{{1,4}}\s?[a-zа-я]?(?:[-/]\d{{1,4}})?(?![\w.:])"
    rf"(?:,\s*(?:\d{{5}}\s+)?{_NAME}(?:[ -]{_NAME})?(?:,\s*{_NAME}(?:\s{_NAME})?)?)?"
)
_PATTERNS: dict[Kind, re.Pattern[str]] = {
    Kind.EMAIL: re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    Kind.URL: re.compile(r"https?://[^\s<>\"']+[^\s<>\"'.,;:!?)]"),
    Kind.UUID: re.compile(r"(?<![\w-])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![\w-])"),
    Kind.IBAN: re.compile(r"(?<!\w)[a-z]{2}\d{2}(?: ?[0-9a-z]{4}){2,7}(?: ?[0-9a-z]{1,3})?(?!\w)"),
    Kind.PERSONAL_CODE: re.compile(
        r"(?<![\w.,-])[1-8]\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{4}(?![\w-]|[.,]\d)"
    ),
    Kind.REGISTRY_CODE: re.compile(r"(?<![\w.,-])\d{8}(?![\w-]|[.,]\d)"),
    Kind.POSTCODE: re.compile(r"(?<![\w.,-])\d{5}(?![\w-]|[.,]\d)"),
    Kind.PHONE: re.compile(r"(?<![\w.,])(?:\+|00)?\d{1,4}(?:[ -]?\(?\d{2,4}\)?){1,5}(?![\w]|[.,-]\d)"),
}
# Number plates by country; where two overlap ("tax 123 abc") the earlier form counts.
_PLATES = tuple(
    re.compile(rf"(?<![\w-]){form}(?![\w-])")
    for form in (r"\d{2,3}[ -]?[a-z]{3}", r"[a-z]\d{3}[a-z]{2}(?:\d{2,3})?", r"[a-z]{2,3}[ -]?\d{2,4}")
)
_WORD_AND_NUMBER = re.compile(r"[a-z]+ \d+")
_GROUPED = re.compile(r"(?<![\w./@-])(?<!\d )\d{1,3}(?: \d{3})+(?![\w@/]|[.,]\d|-\w| \d)")
_IDENTIFIER = re.compile(r"(?<![\w./@-])#?(?=[\w./-]*\d)[a-z0-9](?:[\w/-]*\w)?(?![\w@/]|[.,]\d|-\w)", re.ASCII)
# Short words and units that stand beside numbers: "mai 2026" and "100 EUR" are no number plates.
_NO_PLATE = frozenset({
    "eur", "usd", "sek", "gbp", "kwh", "may", "mai", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "oct",
    "nov", "dec", "in", "on", "at", "to", "of", "no", "nr", "for", "kuu", "tn", "mnt", "pst", "and", "the", "kell",
    "day", "yrs", "th", "st", "km", "kg", "by", "is", "as", "ja",
})  # fmt: skip
_MIN_PHONE_DIGITS, _MAX_PHONE_DIGITS = 5, 15
_IBAN_LETTERS = 10
_LONG_ID = 6
_NOT_IN_ADDRESS = re.compile(
    r"(?:for|number|nr|no|code|id|page|year|aasta\w*|на|номер|код|год\w*|in|from|to|kell|at|on|by|and|ja|и|the|"
    r"kuni|alates|vehicle|car|plate|initiative|algatus\w*|euro\w*|last|next|viimas\w*|последн\w*|"
    r"search|find|otsi|leia|naita|show|look|up|address|aadress\w*|адрес\w*|найд\w*|наити|lookup|my|is|on|minu|"
    r"please|palun|пожалуиста|ma|mul|me|i|we|a|an|of|it|its|see|about|где|что|with|an|vaja|need|want|look)"
)


def is_iban(written: str) -> bool:
    """Whether the check digits hold (ISO 13616: letters become 10…35, the whole is 1 modulo 97)."""
    compact = re.sub(r"\s", "", written).upper()
    turned = compact[4:] + compact[:4]
    if not turned.isascii() or not turned.isalnum():
        return False
    return int("".join(str(ord(c) - ord("A") + _IBAN_LETTERS) if c.isalpha() else c for c in turned)) % 97 == 1


def codes_in(text: Text, kind: Kind) -> Iterator[CodeMention]:
    """Find what has that kind's form, in order."""
    if kind is Kind.ADDRESS:
        yield from addresses_in(text)
        return
    if kind is Kind.PLATE:
        yield from plates_in(text)
        return
    pattern = _PATTERNS.get(kind)
    for match in pattern.finditer(text.folded) if pattern else ():
        written = text.between(match.start(), match.end())
        if _holds(kind, written, match.group()):
            # ISO 13616: the groups of four are for paper; in electronic form an IBAN has no spaces.
            plain = written.replace(" ", "").upper() if kind is Kind.IBAN else written
            yield CodeMention(start=match.start(), end=match.end(), written=plain, kind=kind)


def _holds(kind: Kind, written: str, folded: str) -> bool:
    if kind is Kind.IBAN:
        return is_iban(written)
    if kind is Kind.PHONE:
        digits = sum(c.isdigit() for c in folded)
        return _MIN_PHONE_DIGITS <= digits <= _MAX_PHONE_DIGITS
    return True


def plates_in(text: Text) -> Iterator[CodeMention]:
    """Find number plates: 123ABC, B123CD, ABC 123. A word in small letters before a number ("for 123") is none."""
    taken: list[tuple[int, int]] = []
    for form in _PLATES:
        for match in form.finditer(text.folded):
            written = text.between(match.start(), match.end())
            letters = "".join(c for c in match.group() if not c.isdigit()).strip(" -")
            is_word = _WORD_AND_NUMBER.fullmatch(match.group()) is not None and not written[0].isupper()
            if not (letters in _NO_PLATE or is_word or overlaps(*match.span(), taken)):
                taken.append(match.span())
    for start, end in sorted(taken):
        yield CodeMention(start=start, end=end, written=text.between(start, end), kind=Kind.PLATE)


def identifiers_in(text: Text) -> Iterator[CodeMention]:
    """Find words that carry a digit: `1790`, `AB-12/7`, `007`; digits in groups of three ("20 117 733") are one."""
    grouped = [match for match in _GROUPED.finditer(text.folded) if sum(map(str.isdigit, match.group())) >= _LONG_ID]
    for match in grouped:
        written = match.group().replace(" ", "")
        yield CodeMention(start=match.start(), end=match.end(), written=written, kind=Kind.ID)
    spans = [match.span() for match in grouped]
    for match in (found for found in _IDENTIFIER.finditer(text.folded) if not overlaps(*found.span(), spans)):
        start = match.start() + match.group().startswith("#")
        yield CodeMention(start=start, end=match.end(), written=text.between(start, match.end()), kind=Kind.ID)


def addresses_in(text: Text) -> Iterator[CodeMention]:
    """Find street addresses: a name, perhaps a word for street, a house number, perhaps the town."""
    for match in _ADDRESS.finditer(text.folded):
        start, end = _trimmed(text, match.start(), match.end())
        end = _without_small_words(text, start, end)
        head = text.between(start, end)
        has_street = re.search(rf"(?<!\w)(?:{_STREET})\s+\d", text.folded[start:end]) is not None
        if start < end and re.match(r"[^\W\d_]", head) and (head[:1].isupper() or has_street):
            yield CodeMention(start=start, end=end, written=head, kind=Kind.ADDRESS)


def _without_small_words(text: Text, start: int, end: int) -> int:
    """Leave out what follows the town in small letters: "Viru 4, Tallinn and …"."""
    tail = re.search(r"(?:,?\s+[^\W\dA-ZÄÖÜÕŠŽА-ЯЁ_][^\W\d_]*)+$", text.raw[start:end])
    has_number_before = tail is not None and any(c.isdigit() for c in text.raw[start : start + tail.start()])
    return start + tail.start() if tail and has_number_before else end


def _trimmed(text: Text, start: int, end: int) -> tuple[int, int]:
    """Leave out the words of the request that stand before the street's name."""
    while (match := re.match(r"([^\W\d_]+)\W+", text.folded[start:end])) and _NOT_IN_ADDRESS.fullmatch(match[1]):
        start += match.end()
    number = re.search(r"\d", text.folded[start:end])
    words = [w for w in text.words if start <= w.start and w.end <= start + (number.start() if number else 0)]
    for word in reversed(words):
        if _NOT_IN_ADDRESS.fullmatch(word.folded):
            start = word.end + 1
            break
    return start, end
