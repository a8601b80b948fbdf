"""The kinds of value a parameter takes, told by its type, its choices, its format, its name and its description."""

from __future__ import annotations

import re
from enum import StrEnum

from schemas.endpoints import ParamSpec
from workers.extraction.text import fold


class Kind(StrEnum):
    """What sort of value fills a parameter."""

    DATE = "date"
    MOMENT = "moment"
    YEAR = "year"
    AGE = "age"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ENUM = "enum"
    ARRAY = "array"
    OBJECT = "object"
    COUNTRY = "country"
    CURRENCY = "currency"
    LANGUAGE = "language"
    CITY = "city"
    ADDRESS = "address"
    EMAIL = "email"
    PHONE = "phone"
    IBAN = "iban"
    PLATE = "plate"
    URL = "url"
    UUID = "uuid"
    POSTCODE = "postcode"
    PERSONAL_CODE = "personal_code"
    REGISTRY_CODE = "registry_code"
    TIME = "time"
    ID = "id"
    TEXT = "text"


_FORMATS = {
    "plate": Kind.PLATE, "license-plate": Kind.PLATE, "email": Kind.EMAIL, "phone": Kind.PHONE, "iban": Kind.IBAN,
    "city": Kind.CITY, "address": Kind.ADDRESS, "uri": Kind.URL, "url": Kind.URL, "uuid": Kind.UUID,
    "date": Kind.DATE, "date-time": Kind.MOMENT, "datetime": Kind.MOMENT, "time": Kind.TIME, "country": Kind.COUNTRY,
    "currency": Kind.CURRENCY, "language": Kind.LANGUAGE, "postal-code": Kind.POSTCODE, "postcode": Kind.POSTCODE,
    "personal-code": Kind.PERSONAL_CODE, "registry-code": Kind.REGISTRY_CODE, "id": Kind.ID,
}  # fmt: skip
# Tried in order against the words of the name: `countryIsoCode` is "country iso code".
_NAMED: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (Kind.EMAIL, r"\be ?mail|\bepost"),
        (Kind.PHONE, r"\bphone|\btelefon|\bmobile\b|\btel\b"),
        (Kind.IBAN, r"\biban\b|\bbank account\b"),
        (
            Kind.PLATE,
            r"\bplate\b|\breg (?:nr|number|mark|no)\b|\blicen[cs]e plate|\bregistration (?:nr|number)\b|numbrimark",
        ),
        (Kind.POSTCODE, r"\bpost(?:al)? ?code|\bzip\b|\bpostiindeks"),
        (Kind.PERSONAL_CODE, r"\bpersonal (?:id )?code|\bisikukood|\bnational id"),
        (Kind.REGISTRY_CODE, r"\bregistry code|\bregistrikood|\breg(?:istration)? code|\bregister code"),
        (Kind.COUNTRY, r"\bcountr(?:y|ies)|\bcitizenship|\bnationality|\briik|\briigi ?kood|\bkodakondsus"),
        (Kind.CURRENCY, r"\bcurrenc(?:y|ies)|\bvaluuta"),
        (Kind.LANGUAGE, r"\blang\b|\blanguage|\blocale\b|\bkeel\b"),
        (Kind.UUID, r"\buuid\b|\bguid\b"),
        (Kind.URL, r"\burl\b|\blink\b|\bwebsite\b"),
        (Kind.ADDRESS, r"\baddress|\baadress|\bstreet\b"),
        (Kind.CITY, r"\bcit(?:y|ies)\b|\btowns?\b|\blinn\b"),
        (Kind.TIME, r"\btime$|\bclock$"),
        (
            Kind.ID,
            r"\bid\b|\bidentifier\b|\bcode\b|\bnumber\b|\bnr\b|\bno\b|\breference\b|\bref\b|\bkey\b|\bkood\b|\bstation\b",
        ),
    )
)
_YEAR = re.compile(r"\byear\b|\baasta\b|\byyyy\b")
_LOOKS_LIKE_YEAR = re.compile(r"(?:19|20)\d\d")
_AGE = re.compile(r"\bage\b|\bvanus\b|\bvanus\w*")
_DAY_ONLY = re.compile(r"(?<!t)yyyy-mm-dd(?!t|[ ]?hh)")
_MOMENT_FORM = re.compile(r"yyyy-mm-ddthh")


def kind_of(spec: ParamSpec, named: str) -> Kind:
    """Return what sort of value a parameter takes; `named` is its name as folded words."""
    if spec.enum and spec.type not in ("boolean", "array"):
        return _choice_kind(spec)
    match spec.type:
        case "date":
            return Kind.DATE
        case "datetime":
            return Kind.MOMENT
        case "boolean" | "array" | "object" | "enum":
            return Kind.TEXT if spec.type == "enum" else Kind(spec.type)
        case "integer" | "number":
            return _number_kind(spec, named)
        case _:
            return _string_kind(spec, named)


def _choice_kind(spec: ParamSpec) -> Kind:
    """Read choices that are plain whole numbers as a count, or as years: "two rooms" is one of 1, 2, 3."""
    if any(not option.value.isdecimal() or option.labels for option in spec.enum):
        return Kind.ENUM
    return Kind.YEAR if all(_LOOKS_LIKE_YEAR.fullmatch(option.value) for option in spec.enum) else Kind.INTEGER


def _number_kind(spec: ParamSpec, named: str) -> Kind:
    if _YEAR.search(named):
        return Kind.YEAR
    if _AGE.search(named):
        return Kind.AGE
    return Kind(spec.type)


def _string_kind(spec: ParamSpec, named: str) -> Kind:
    if spec.format and spec.format in _FORMATS:
        return _FORMATS[spec.format]
    described = fold(spec.description)
    if _MOMENT_FORM.search(described):
        return Kind.MOMENT
    if _DAY_ONLY.search(described) or re.search(r"\bdate\b|kuupaev", named):
        return Kind.DATE
    if _YEAR.search(named):
        return Kind.YEAR
    by_name = next((kind for kind, pattern in _NAMED if pattern.search(named)), Kind.TEXT)
    return Kind.EMAIL if by_name is Kind.TEXT and re.search(r"\be-?mail address", described) else by_name
