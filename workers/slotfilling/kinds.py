"""What a parameter wants, read from its type, format, name, labels and description."""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache

from schemas.endpoints import ParamSpec
from workers.slotfilling.names import codes
from workers.slotfilling.text import fold


class Kind(Enum):
    """The recogniser that serves a parameter. TEXT has no form: it is taken only when it was asked for."""

    DATE = auto()
    MOMENT = auto()
    YEAR = auto()
    INTEGER = auto()
    NUMBER = auto()
    BOOLEAN = auto()
    ENUM = auto()
    COUNTRY = auto()
    CURRENCY = auto()
    LANGUAGE = auto()
    TOWN = auto()
    ADDRESS = auto()
    PLATE = auto()
    REGISTRY_CODE = auto()
    EMAIL = auto()
    PHONE = auto()
    IBAN = auto()
    CODE = auto()
    ARRAY = auto()
    OBJECT = auto()
    TEXT = auto()


_OF_TYPE = {
    "date": Kind.DATE,
    "datetime": Kind.MOMENT,
    "boolean": Kind.BOOLEAN,
    "array": Kind.ARRAY,
    "object": Kind.OBJECT,
}
_OF_FORMAT = {
    "date": Kind.DATE,
    "date-time": Kind.MOMENT,
    "email": Kind.EMAIL,
    "iban": Kind.IBAN,
    "phone": Kind.PHONE,
    "uuid": Kind.CODE,
}
# Tried in this order on the folded words of name, labels and description; the first that matches decides.
_BY_WORDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"\bibans?\b"), Kind.IBAN),
    (re.compile(r"\be-?mails?\b|\be-?post|электронн\w+ почт"), Kind.EMAIL),
    (re.compile(r"\bphone|\btelefon|телефон"), Kind.PHONE),
    (re.compile(r"\bcurrenc|\bvaluuta|валют"), Kind.CURRENCY),
    (re.compile(r"\bcountr(?:y|ies)\b|\briik|\briigi\b|стран[аыу]\b"), Kind.COUNTRY),
    (re.compile(r"\blanguage|\blang\b|\bkeele?\b|язык"), Kind.LANGUAGE),
    (
        re.compile(
            r"\bplate|\breg ?nr\b|registration (?:number|plate)|registration nr|numbrimär|регистрацион\w+ (?:номер|знак)|госномер"
        ),
        Kind.PLATE,
    ),
    (re.compile(r"regist(?:ry|ration) ?code|\breg code\b|registrikood|регистрационн\w+ код"), Kind.REGISTRY_CODE),
    (re.compile(r"\baddress|\baadress|адрес"), Kind.ADDRESS),
    (
        re.compile(
            r"\bcity\b|\btown\b|\blinn|\bstation\b|\bjaam|\bplace\b|\bkoht\b|город|станци|\borigin\b|\bdestination\b|\bdeparture\b|\barrival\b"
        ),
        Kind.TOWN,
    ),
    (re.compile(r"yyyy-mm-ddt|iso 8601 datetime"), Kind.MOMENT),
    (re.compile(r"yyyy-mm-dd"), Kind.DATE),
    (
        re.compile(r"\bcode\b|\bnumber\b|\bnr\b|\bid\b|\bticket|\bcard\b|\bkood|\bnumber\b|\bkaart|код|номер|билет"),
        Kind.CODE,
    ),
)
_YEAR_WORDS = re.compile(r"\byear\b|\baasta|\bгод")
_NAME_WORDS = re.compile(r"\bname\b|\bnimi|\bnime\b|назван|имя")


def readable(name: str) -> str:
    """Write a parameter's name as words: countryIsoCode, validFrom, reg_nr → "country iso code" …"""
    spaced = re.sub(r"(?<=[a-zõäöü0-9])(?=[A-Z])", " ", name)
    return re.sub(r"[_\-.\s]+", " ", spaced).strip().lower()


@lru_cache(maxsize=4096)
def _kind_of_words(name: str, labels: str, description: str) -> Kind:
    for words in (name, labels, description):
        if words is not description and _NAME_WORDS.search(words):
            return Kind.TEXT
        for pattern, kind in _BY_WORDS:
            if pattern.search(words):
                return kind
    return Kind.TEXT


@lru_cache(maxsize=1024)
def _kind_of_options(values: frozenset[str]) -> Kind:
    """Return the kind whose names cover the options (country codes, currencies, languages), else ENUM."""
    for kind, names in ((Kind.COUNTRY, "countries"), (Kind.CURRENCY, "currencies"), (Kind.LANGUAGE, "languages")):
        if values and values <= codes(names):
            return kind
    return Kind.ENUM


def kind_of(param: ParamSpec) -> Kind:
    """Return the kind of value that the parameter wants."""
    if param.enum or param.type == "enum":
        return _kind_of_options(frozenset(option.value for option in param.enum))
    if param.type in _OF_TYPE:
        return _OF_TYPE[param.type]
    words = fold(readable(param.name))
    if param.type in ("integer", "number"):
        described = f"{words} {fold(' '.join(param.labels.values()))}"
        if _YEAR_WORDS.search(described):
            return Kind.YEAR
        return Kind.INTEGER if param.type == "integer" else Kind.NUMBER
    if param.format in _OF_FORMAT:
        return _OF_FORMAT[param.format]
    labels = fold(" ".join(param.labels.values()))
    kind = _kind_of_words(words, labels, fold(param.description))
    return Kind.YEAR if kind in (Kind.TEXT, Kind.CODE) and _YEAR_WORDS.search(words) else kind


_START = re.compile(
    r"\b(?:from|start|begin|since|valid from|origin|departure|base|source|algus\w*|alates|kust|lähte\w*|начал\w*|откуда)\b"
)
_END = re.compile(
    r"\b(?:to|end|until|till|valid to|destination|arrival|target|lõpp?\w*|kuni|kuhu|siht\w*|конец|куда|оконч\w*)\b"
)


def role_of(param: ParamSpec) -> str:
    """Return "start" or "end" for a member of a pair (validFrom/validTo, origin/destination), else ""."""
    words = readable(param.name)
    if _START.search(words):
        return "start"
    return "end" if _END.search(words) else ""
