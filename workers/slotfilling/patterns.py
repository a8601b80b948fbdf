"""Values that have a form of their own: plates, registry codes, e-mails, phones, IBANs, addresses, codes, numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from workers.slotfilling.text import Found, fold

EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
PHONE = re.compile(r"(?<![\w.])\+?\d(?:[ -]?\d){6,14}(?![\w])")
IBAN = re.compile(r"\b[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]{4}){3,7}(?: ?[A-Za-z0-9]{1,3})?\b")
# Estonian plates are 123 ABC; others mix letters and digits within 4…8 signs.
PLATE = re.compile(
    r"(?<![\w-])(?:\d{2,3}[A-Za-zÕÄÖÜõäöü]{3}|\d{2,3}[ -][A-ZÕÄÖÜ]{3}|[A-Z]{1,3}[ -]?\d{2,4}(?:[ -]?[A-Z]{1,3})?)(?![\w-])"
)
REGISTRY_CODE = re.compile(r"(?<!\d)\d{8}(?!\d)")
CODE = re.compile(r"(?<![\w.,/-])(?=[\w/-]*\d)[A-Za-zÕÄÖÜõäöü0-9]+(?:[-/][A-Za-z0-9]+)*(?![\w/-]|[.,:]\d)")
QUOTED = re.compile(r"[\"“„«']([^\"”“»']{2,200})[\"”“»']")
_STREET = (
    r"(?:t[nä]n?\.?|tänav\w{0,3}|mnt\.?|maantee\w{0,2}|pst\.?|puiestee\w{0,2}|tee|plats|väljak|põik"
    r"|street|st\.?|road|rd\.?|avenue|ave\.?|lane|square|ул\.?|улица|шоссе|проспект|пр\.?)"
)
ADDRESS = re.compile(
    rf"(?:\b(?:ул\.?|улица)\s+)?[A-ZÕÄÖÜŠŽА-ЯЁ][\w.'-]*(?:\s+[A-ZÕÄÖÜŠŽА-ЯЁ][\w'-]+){{0,2}}(?:\s+{_STREET})?\s+\d{{1,4}}[A-Za-z]?"
    r"(?:[-/]\d{1,4})?(?!\d|\.\d)(?:,\s*[A-ZÕÄÖÜŠŽА-ЯЁ][\w'-]+(?:\s+(?:linn|vald))?)?",
)
_NUMBER = re.compile(
    r"(?<![\w.,])[+-]?(?:\d{1,3}(?:[ ,]\d{3})+(?:[.,]\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}|\d+(?:[.,]\d+)?)(?![\w]|[.,]\d)"
)
_LONGEST_NUMBER = 40
_THOUSANDS = 3

_WORDS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
    "et": "null üks kaks kolm neli viis kuus seitse kaheksa üheksa kümme üksteist kaksteist kolmteist neliteist "
    "viisteist kuusteist seitseteist kaheksateist üheksateist",
    "ru": "ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать "
    "четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать",
}
_TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety hundred",
    "et": "kakskümmend kolmkümmend nelikümmend viiskümmend kuuskümmend seitsekümmend kaheksakümmend üheksakümmend sada",
    "ru": "двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто сто",
}
_UNITS_OF = {word: value for names in _WORDS.values() for value, word in enumerate(names.split())}
_TENS_OF = {word: 10 * (place + 2) for names in _TENS.values() for place, word in enumerate(names.split())}
_SPELLED = re.compile(
    rf"\b(?:(?:a\s+)?({'|'.join(_TENS_OF)})(?:[\s-]+({'|'.join(_UNITS_OF)}))?|({'|'.join(sorted(_UNITS_OF, key=len, reverse=True))}))\b"
)


def find_pattern(text: str, pattern: re.Pattern[str]) -> list[Found]:
    """Return every match as written."""
    return [Found(m.group().strip(" ,"), m.start(), m.end()) for m in pattern.finditer(text)]


def find_plates(text: str) -> list[Found]:
    """Return vehicle plates, upper case, without the blank inside."""
    return [Found(re.sub(r"[ -]", "", m.group()).upper(), m.start(), m.end()) for m in PLATE.finditer(text)]


def find_numbers(text: str) -> list[Found]:
    """Return numbers in digits or in words up to a hundred, as plain decimal text ("1 234,56" → "1234.56")."""
    return sorted([*_digits(text), *_spelled(text)], key=lambda found: found.start)


def _digits(text: str) -> Iterator[Found]:
    for match in _NUMBER.finditer(text):
        value = plain_number(match.group())
        if value is not None:
            yield Found(value, match.start(), match.end())


def _spelled(text: str) -> Iterator[Found]:
    for match in _SPELLED.finditer(fold(text)):
        tens, unit, alone = match.groups()
        value = _UNITS_OF[alone] if alone else _TENS_OF[tens] + (_UNITS_OF[unit] if unit else 0)
        yield Found(str(value), match.start(), match.end())


def plain_number(written: str) -> str | None:
    """Read one number written in any of the three languages' forms; None when it has two readings ("1,234").

    A mark that stands once with other than three digits after it is decimal; of two marks, the last is.
    """
    bare = written.strip().replace(" ", "")
    sign, bare = (bare[0].replace("+", ""), bare[1:]) if bare[:1] in ("+", "-") else ("", bare)
    if len(bare) > _LONGEST_NUMBER or not re.fullmatch(r"[\d.,]+", bare) or not bare[0].isdigit():
        return None
    commas, dots = bare.count(","), bare.count(".")
    if commas and dots:
        decimal = max(",", ".", key=bare.rfind)
        group = "," if decimal == "." else "."
        bare = bare.replace(group, "").replace(decimal, ".") if bare.count(decimal) == 1 else ""
    elif commas + dots == 1:
        mark = "," if commas else "."
        whole, digits = bare.split(mark)
        if mark == "," and len(digits) == _THOUSANDS and whole != "0":
            return None
        bare = f"{whole}.{digits}"
    elif commas + dots > 1:
        bare = bare.replace(",", "").replace(".", "")
    return f"{sign}{bare}" if bare and math.isfinite(float(bare)) else None
