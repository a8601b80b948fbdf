"""Says parameters and values in the person's language."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, tzinfo

from schemas.base import JsonValue
from schemas.endpoints import Endpoint, Language
from workers.extraction.kinds import Kind
from workers.extraction.params import Param
from workers.extraction.text import fold, readable
from workers.messages.catalog import phrases, text

_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_ESTONIAN = re.compile(
    r"[äöõü]|(?<!\w)(?:kas|mille|mis|nt|ja|ning|number|kohta|kood|riigi|keel|algus|lisatakse|isiku|tee|aasta\w*)(?!\w)",
    re.IGNORECASE,
)
# "number" and "tee" are words of both languages; small words tell which it is.
_ENGLISH = re.compile(r"(?<!\w)(?:the|of|an?|for|to|or|and|which|with|is|are)(?!\w)", re.IGNORECASE)
_FIRST_CLAUSE = re.compile(r"\s*[(;.:—–]\s*|\s+-\s+|,\s+(?=as\b|for\b|which\b|mis\b|mille\b|котор)")
_ARTICLE = re.compile(r"(?:the|a|an|your|how|what|when|which|whether|only|any)(?!\w)")
_MOMENT = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)T(?P<clock>\d\d:\d\d)")
_LONGEST_LABEL = 70
_OPTIONS_SHOWN = 6
_NOT_NAMED_BY_KIND = frozenset({
    Kind.TEXT, Kind.ID, Kind.INTEGER, Kind.NUMBER, Kind.BOOLEAN, Kind.ENUM, Kind.ARRAY, Kind.OBJECT, Kind.UUID,
    Kind.URL, Kind.TIME,
})  # fmt: skip
_EXAMPLES: dict[Kind, str] = {
    Kind.DATE: "{year}-05-01", Kind.MOMENT: "{year}-05-01", Kind.YEAR: "{year}", Kind.PLATE: "123ABC",
    Kind.COUNTRY: "EE", Kind.ADDRESS: "Viru tn 4, Tallinn", Kind.EMAIL: "mari@example.ee", Kind.CURRENCY: "EUR",
    Kind.OBJECT: '{{"…": "…"}}',
}  # fmt: skip


def label(param: Param, language: Language) -> str:
    """Name a parameter: its label, else its description's first clause, else its readable name.

    A description in another language gives way to the kind's own name ("start date").
    """
    own = param.spec.labels.get(language)
    if own:
        return own
    clause = _FIRST_CLAUSE.split(param.spec.description.strip(), maxsplit=1)[0].strip()
    if clause and len(clause) <= _LONGEST_LABEL and _language_of(param.spec.description) == language:
        return clause if clause[:2].isupper() else clause[0].lower() + clause[1:]
    if param.kind not in _NOT_NAMED_BY_KIND:
        key = (
            f"date_{param.direction}"
            if param.direction and param.kind in (Kind.DATE, Kind.MOMENT)
            else param.kind.value
        )
        named = dict(line.split(": ", 1) for line in phrases("hearing.labels", language)).get(key)
        if named:
            return named.split(" | ")[0]
    if clause and len(clause) <= _LONGEST_LABEL:
        return clause if clause[:2].isupper() else clause[0].lower() + clause[1:]
    return param.spec.labels.get("en") or readable(param.spec.name)


def explained(param: Param, language: Language) -> str:
    """Explain a parameter in the catalogue's own words, or by its label when those are in another language."""
    described = param.spec.description.strip().rstrip(".")
    meant = described if described and _language_of(described) == language else label(param, language)
    return meant if meant[:2].isupper() else meant[:1].lower() + meant[1:]


def _language_of(description: str) -> Language:
    if _CYRILLIC.search(description):
        return "ru"
    is_english = _ENGLISH.search(description) is not None
    return "et" if _ESTONIAN.search(description) and not is_english else "en"


def title(endpoint: Endpoint, language: Language) -> str:
    """Name an endpoint: its title, else its readable name without the verb."""
    own = endpoint.titles.get(language) or endpoint.titles.get("en")
    return own or re.sub(r"^(?:get|find|search|list|show|check|lookup) ", "", readable(endpoint.name))


def listed(parts: Sequence[str], language: Language, *, word: str = "and") -> str:
    """Join as people do: "a, b and c"."""
    if len(parts) < 2:  # noqa: PLR2004 - nothing to join
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {text(f'asking.{word}', language)} {parts[-1]}"


def shown(param: Param, value: JsonValue, language: Language, zone: tzinfo | None) -> str:
    """Say a value: dates in words, choices by their label, lists joined."""
    if isinstance(value, bool):
        return text("asking.yes_value" if value else "asking.no_value", language)
    if isinstance(value, list):
        return listed([shown(param, one, language, zone) for one in value], language)
    option = next((option for option in param.spec.enum if option.value == str(value)), None)
    if option is not None:
        return option.labels.get(language) or option.value
    if isinstance(value, str) and param.kind in (Kind.DATE, Kind.MOMENT):
        return _date(value, language, zone)
    written = str(value)
    return written.replace(".", ",") if isinstance(value, float) and language != "en" else written


def _date(value: str, language: Language, zone: tzinfo | None) -> str:
    if len(value) == len("2026-05-12"):
        return _day(date.fromisoformat(value), language)
    moment = datetime.fromisoformat(value)
    # The last hours of 9999 have no day east of Greenwich; they are shown in their own zone.
    with contextlib.suppress(OverflowError):
        moment = moment.astimezone(zone or UTC)
    return f"{_day(moment.date(), language)} {moment:%H:%M}"


def _day(day: date, language: Language) -> str:
    month = phrases("calendar.months_genitive" if language == "ru" else "calendar.months", language)[day.month - 1]
    return f"{day.day}{'.' if language == 'et' else ''} {month} {day.year}"


def asked_for(param: Param, language: Language, *, year: int, of: str = "") -> str:
    """Name what is asked for, with its choices or an example of its form. `of` is the endpoint's title, if needed."""
    named = label(param, language)
    if not _ARTICLE.match(fold(named)):
        named = text("asking.the", language, label=named)
    if of:
        named = text("asking.of_title", language, label=named, title=of)
    if param.spec.enum:
        return text("asking.choice_of", language, label=named, options=_options(param, language))
    example = param.spec.example if param.spec.example is not None else _EXAMPLES.get(param.kind, "").format(year=year)
    if example in ("", None) or isinstance(example, dict | list):
        return named
    return text("asking.example", language, label=named, example=_shown_example(param, example, language))


def _options(param: Param, language: Language) -> str:
    named = [option.labels.get(language) or option.labels.get("en") or option.value for option in param.spec.enum]
    if len(named) <= _OPTIONS_SHOWN:
        return listed(named, language, word="or")
    return text("asking.options_more", language, options=", ".join(named[: _OPTIONS_SHOWN - 2]))


def _shown_example(param: Param, example: JsonValue, language: Language) -> str:
    """Show a moment's example as people write it, a whole day's without a clock; the rest as the catalogue has it."""
    if isinstance(example, bool):
        return shown(param, example, language, None)
    written = str(example)
    moment = _MOMENT.match(written) if param.kind is Kind.MOMENT else None
    if moment is None:
        return written
    return moment["day"] if moment["clock"] in ("00:00", "23:59") else f"{moment['day']} {moment['clock']}"
