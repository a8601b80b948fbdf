"""What a parameter is for: whether it begins or ends something, and the words by which people name it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from schemas.endpoints import LANGUAGES, Language, ParamSpec
from workers.extraction.kinds import Kind, kind_of
from workers.extraction.text import fold, readable, words_of
from workers.extraction.values_options import Wording, wordings_of
from workers.messages.catalog import phrases

Direction = Literal["", "start", "end"]

_START = re.compile(
    r"\b(?:from|start|starts|begin|beginning|since|after|valid from|departure|depart|departing|origin|source|"
    r"check ?in|pick ?up|lower|first|min|algus|alates|lahte)\b"
)
_END = re.compile(
    r"\b(?:to|end|ends|until|till|before|through|thru|valid to|arrival|return|destination|dest|target|"
    r"check ?out|drop ?off|upper|last|max|lopp|kuni|siht)\b"
)
# A parameter named by a preposition is told by that word's place before the value, never as a label.
_PREPOSITIONS = frozenset({("from",), ("to",), ("in",), ("on",), ("at",), ("is",), ("no",)})
_ISO_CASE = re.compile(r"(?<![\w])([A-Z]{2,3})(?!\w)")
_THREE_LETTERS = re.compile(r"alpha-?3|three[- ]letter|3[- ]letter|kolmetahe|трехбукв")
_UTC_DAY = re.compile(r"(?<![\d\w])T\d\d:\d\d:\d\dZ")
_EXAMPLES = re.compile(
    r"\((?:nt|e\.g\.|eg|for example|such as|например|naiteks|näiteks|naide|like)[:,]?\s*([^)]*)\)", re.IGNORECASE
)


_DATE_FORM = re.compile(r"(?i)(?:yyyy|mm|dd)(?P<sep>[-/.])(?:mm|dd)(?P=sep)(?:yyyy|dd|mm)(?![\w-]|T)")
_QUOTED_CHOICE = re.compile(r"(?<!\w)['\"`]([^\s'\"`][^'\"`,;.]{0,30})['\"`](?!\w)")


def country_code(codes: tuple[str, ...], spec: ParamSpec) -> str:
    """Choose between the two- and the three-letter code, as the description asks."""
    wants_three = _THREE_LETTERS.search(fold(spec.description)) or re.fullmatch(r"[A-Z]{3}", str(spec.example or ""))
    return codes[1] if wants_three and len(codes) > 1 else codes[0]


@dataclass(frozen=True)
class Param:
    """A ParamSpec with what its words say about it."""

    spec: ParamSpec

    @property
    def name(self) -> str:
        return self.spec.name

    @cached_property
    def named(self) -> str:
        return fold(readable(self.spec.name))

    @cached_property
    def kind(self) -> Kind:
        return kind_of(self.spec, self.named)

    @cached_property
    def direction(self) -> Direction:
        """Whether it begins or ends something (a period, a journey, a conversion)."""
        start, end = _START.search(self.named), _END.search(self.named)
        if start and not end:
            return "start"
        return "end" if end and not start else ""

    @cached_property
    def family(self) -> str:
        """The name without its start or end word: `validFrom` and `validTo` are one family."""
        return " ".join(_END.sub(" ", _START.sub(" ", self.named)).split())

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The folded words by which people call it, the longest label first."""
        said = [*self.spec.labels.values(), readable(self.spec.name), *self.aliases]
        cut = {tuple(word.folded for word in words_of(fold(label))) for label in said}
        return tuple(
            sorted(
                (words for words in cut if words and words not in _PREPOSITIONS), key=lambda words: (-len(words), words)
            )
        )

    @cached_property
    def aliases(self) -> tuple[str, ...]:
        keys = [self.kind.value]
        if self.direction and self.kind in (Kind.DATE, Kind.MOMENT):
            keys = [f"date_{self.direction}"]
        return tuple(alias for language in LANGUAGES for key in keys for alias in _aliases(language).get(key, ()))

    @cached_property
    def counts_in_percent(self) -> bool:
        """Whether it wants 5 for five percent; others that take fractions want 0.05."""
        described = f"{self.named} {fold(self.spec.description)}"
        is_fraction = re.search(r"decimal|fraction|murdarv|дроб|\b0\.\d", described) is not None
        return not is_fraction and re.search(r"percent|%|protsen|процент", described) is not None

    @cached_property
    def wordings(self) -> tuple[Wording, ...]:
        """Every way to name one of its allowed values."""
        return wordings_of(self.spec.enum)

    def as_option(self, value: int) -> int | str | None:
        """Return a whole number in the form of the allowed value that it is; None when it is none of them."""
        is_allowed = any(option.value == str(value) for option in self.spec.enum)
        return (value if self.spec.type == "integer" else str(value)) if is_allowed else None

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """The values that its description offers ("e.g. start_business, vote, drive")."""
        found = _EXAMPLES.search(self.spec.description)
        return tuple(part.strip() for part in re.split(r"[,;]", found[1]) if part.strip()) if found else ()

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The values that its description puts in quotation marks ("'real' or 'all'"), when there are two or more."""
        quoted = [match[1] for match in _QUOTED_CHOICE.finditer(self.spec.description)]
        return tuple(dict.fromkeys(quoted)) if len(set(quoted)) > 1 else ()

    @cached_property
    def date_form(self) -> str:
        """How its description wants days written, as strftime says it; ISO 8601 when it says nothing."""
        found = _DATE_FORM.search(self.spec.description)
        if not found:
            return "%Y-%m-%d"
        parts = {"y": "%Y", "m": "%m", "d": "%d"}
        return found["sep"].join(parts[part[0].lower()] for part in found.group().split(found["sep"]))

    @cached_property
    def counts_days_in_utc(self) -> bool:
        """Whether its description fixes the clock of a bare date in UTC ("use T00:00:00Z")."""
        return _UTC_DAY.search(self.spec.description) is not None

    @cached_property
    def wants_code(self) -> bool:
        """Whether a country is to be given by its code, not by its name."""
        shown = f"{self.named} {fold(self.spec.description)}"
        return (
            re.search(r"\biso\b|code|kood|код", shown) is not None
            or self.spec.format == "country"
            or (re.fullmatch(r"[A-Z]{2,3}", str(self.spec.example or "")) is not None)
        )

    @cached_property
    def writes_codes_in_capitals(self) -> bool:
        shown = f"{self.spec.example or ''} {self.spec.description}"
        return _ISO_CASE.search(re.sub(r"\bISO\b", "", shown)) is not None or self.kind is not Kind.LANGUAGE


@dataclass(frozen=True)
class _Described:
    """A spec that can be looked up by what it says; pydantic's own dicts cannot be hashed."""

    spec: ParamSpec
    key: tuple[object, ...]

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Described) and self.key == other.key


def param_of(spec: ParamSpec) -> Param:
    """Return the spec with what its words say; the same words are read only once."""
    return _param(_Described(spec, _key(spec)))


@lru_cache(maxsize=4096)
def _param(described: _Described) -> Param:
    return Param(described.spec)


def _key(spec: ParamSpec) -> tuple[object, ...]:
    options = tuple((option.value, tuple(option.labels.items()), option.synonyms) for option in spec.enum)
    nested = (_key(spec.items) if spec.items else None, tuple(_key(one) for one in spec.properties))
    shown = (spec.description, tuple(spec.labels.items()), spec.format, repr(spec.example), repr(spec.default))
    return (spec.name, spec.type, spec.required, *shown, options, nested)


@lru_cache(maxsize=16)
def _aliases(language: Language) -> dict[str, tuple[str, ...]]:
    lines = (line.partition(": ") for line in phrases("hearing.labels", language))
    return {key: tuple(words.split(" | ")) for key, _, words in lines}
