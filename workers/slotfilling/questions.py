"""What to ask and in which words: all that is missing at once, with the form of one example, never twice the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime

from schemas.base import JsonValue
from schemas.conversations import Collecting
from schemas.endpoints import Language
from workers.messages.catalog import phrases, text
from workers.slotfilling.dates import DateSpan
from workers.slotfilling.kinds import Kind, readable
from workers.slotfilling.slot import Slot

_LONGEST_LABEL = 60
_MOST_OPTIONS = 6


def label(slot: Slot, language: Language) -> str:
    """Name a parameter to a person: its label, else the start of its description, else its own words."""
    labels = slot.param.labels
    if language in labels:
        return labels[language]
    clause = re.split(r"[.;(]", slot.param.description, maxsplit=1)[0].strip()
    if clause and len(clause) <= _LONGEST_LABEL:
        return clause[0].lower() + clause[1:] if clause[1:2].islower() else clause
    return labels.get("en") or readable(slot.name)


def listed(items: Sequence[str], language: Language, *, joined_by: str = "and") -> str:
    """Join as people do: "a, b and c"."""
    if len(items) < 2:  # noqa: PLR2004 — one needs no joining
        return "".join(items)
    return f"{', '.join(items[:-1])} {text(f'collect.{joined_by}', language)} {items[-1]}"


def ask_for(missing: Sequence[Slot], language: Language, *, got: Sequence[str], collecting: Collecting) -> str:
    """Ask for everything that is missing, saying first what was understood just now."""
    names = listed([_with_form(slot, language) for slot in missing], language)
    wordings = phrases("collect.ask_again" if collecting.turns else "collect.ask", language)
    asked = [wording.format(missing=names) for wording in wordings]
    fresh = [sentence for sentence in asked if sentence not in collecting.last_question]
    sentence = (fresh or asked)[collecting.turns % len(fresh or asked)]
    return f"{text('collect.got', language, got=listed(got, language))} {sentence}" if got else sentence


def understood(slots: Sequence[Slot], values: dict[str, JsonValue], language: Language) -> list[str]:
    """Say the values read just now, each beside its label; a pair of dates once."""
    return [f"{label(slot, language)} {_spoken(values[slot.name])}" for slot in slots if slot.name in values]


def ask_which_day(slot: Slot, span: DateSpan, language: Language) -> str:
    """Ask which of two readings of a date was meant ("3 May or 5 March")."""
    other = date(span.first.year, span.first.day, span.first.month)
    days = listed([span.first.isoformat(), other.isoformat()], language, joined_by="or")
    return text("collect.which_day", language, label=label(slot, language), days=days)


def refuse_date(written: str, missing: Sequence[Slot], language: Language) -> str:
    return (
        text("collect.no_such_day", language, written=written)
        + " "
        + text(
            "collect.ask_plain", language, missing=listed([_with_form(slot, language) for slot in missing], language)
        )
    )


def report(slots: Sequence[Slot], known: dict[str, JsonValue], language: Language) -> str:
    """Answer "what do you know so far?"."""
    said = understood(slots, known, language)
    return text("collect.known", language, known=listed(said, language)) if said else text("collect.nothing", language)


def _with_form(slot: Slot, language: Language) -> str:
    form = _form(slot, language)
    return f"{label(slot, language)} ({form})" if form else label(slot, language)


def _form(slot: Slot, language: Language) -> str:
    if slot.kind is Kind.ENUM:
        options = [option.labels.get(language) or option.value for option in slot.param.enum]
        shown = options[:_MOST_OPTIONS]
        return ", ".join(shown) + ("…" if len(options) > len(shown) else "")
    if slot.param.example is not None:
        return text("collect.example", language, example=_spoken(slot.param.example))
    return {
        Kind.DATE: text("collect.form_date", language),
        Kind.MOMENT: text("collect.form_moment", language),
        Kind.YEAR: text("collect.form_year", language),
    }.get(slot.kind, "")


def _spoken(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "✓" if value else "✗"
    if isinstance(value, list):
        return ", ".join(_spoken(item) for item in value)
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value):
        return datetime.fromisoformat(value).strftime("%Y-%m-%d %H:%M UTC")
    return str(value)
