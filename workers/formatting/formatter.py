"""Words the answer: every call's outcome in order, as one text that a person could have written.

Operators' templates come first; without them, or where they have nothing to say, the body's own shape is worded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from schemas.base import JsonValue
from schemas.calls import ApiCall, CallFailed, CallOutcome
from schemas.endpoints import Language
from workers.formatting.evidence import ALL_BODIES_BYTES, ONE_BODY_BYTES, gather
from workers.formatting.excuses import excuse
from workers.formatting.locale import listing, plural_form, spoken_number
from workers.formatting.names import capital, topic
from workers.formatting.paths import Missing, find
from workers.formatting.quoting import ROW_LIMIT, clean, quoted
from workers.formatting.rendering import fill
from workers.formatting.scope import Scope
from workers.formatting.shape import Found, lines_of, more_line, question_words, rows_shown, unwrap, words_of
from workers.formatting.values import Reading, say_field
from workers.messages.catalog import phrases, text

ANSWER_LIMIT = 6_000
_SHORT_OBJECT = 2
_NO_REASONS: Mapping[str, Sequence[str]] = MappingProxyType({})


def answer(
    query: str,
    results: Sequence[tuple[ApiCall, CallOutcome]],
    *,
    language: Language,
    unmatched: Sequence[str] = (),
    reasons: Mapping[str, Sequence[str]] = _NO_REASONS,
) -> str:
    """Say what the calls brought, failed ones too, each in a paragraph of its own and in their order.

    `query` tells which fields matter most; `unmatched` are parts of it that no endpoint fits, named at the end;
    `reasons` are what APIs said of the values they did not accept, by call id.
    The text is plain, at most a few thousand characters, and never empty.
    """
    room = min(ONE_BODY_BYTES, ALL_BODIES_BYTES // max(1, len(results)))
    words = frozenset(question_words(query))
    several = len(results) > 1
    paragraphs = [
        _Result(call, outcome, language, words).paragraph(
            room=room, several=several, reasons=reasons.get(call.call_id, ())
        )
        for call, outcome in results
    ]
    said = [_bounded("\n\n".join(paragraphs)), *_unmatched(unmatched, language)]
    return "\n\n".join(filter(None, said)) or text("formatting.nothing", language)


def remarks(
    results: Sequence[tuple[ApiCall, CallOutcome]], *, language: Language, unmatched: Sequence[str] = ()
) -> str:
    """Say which calls failed and which parts nothing fits, and nothing else: what stays the rules' to tell."""
    several = len(results) > 1
    failed = [_Result(*result, language, frozenset()) for result in results if isinstance(result[1], CallFailed)]
    paragraphs = [one.paragraph(room=ONE_BODY_BYTES, several=several, reasons=()) for one in failed]
    return "\n\n".join([*paragraphs, *_unmatched(unmatched, language)])


def _unmatched(unmatched: Sequence[str], language: Language) -> list[str]:
    parts = [quoted(part, language, limit=ROW_LIMIT) for part in unmatched if clean(part)]
    return [text("formatting.unmatched", language, parts=listing(parts, language))] if parts else []


def _bounded(said: str) -> str:
    """Cut at a line when the answer is too long to be read."""
    if len(said) <= ANSWER_LIMIT:
        return said
    return said[:ANSWER_LIMIT].rsplit("\n", 1)[0] + "\n…"


class _Result:
    """One call and its outcome, to be worded in one language."""

    def __init__(self, call: ApiCall, outcome: CallOutcome, language: Language, query_words: frozenset[str]) -> None:
        self._call = call
        self._outcome = outcome
        self._language: Language = language
        self._query_words = query_words
        self._topic = topic(call.endpoint, language)

    def paragraph(self, *, room: int, several: bool, reasons: Sequence[str]) -> str:
        if isinstance(self._outcome, CallFailed):
            sentence = excuse(self._outcome, self._language, reasons=reasons)
            return f"{capital(self._topic)}: {sentence}" if several else sentence
        evidence = gather(self._outcome.body, max_bytes=room)
        reading = Reading(
            call=self._call, language=self._language, query_words=self._query_words, totals=evidence.totals
        )
        return self._templated(evidence.body, reading) or self._generic(evidence.body, reading)

    def _templated(self, body: JsonValue, reading: Reading) -> str:
        rendering = self._call.endpoint.rendering
        scope = Scope(call=self._call, body=body, language=self._language)
        opening = fill(rendering.answer.get(self._language, ""), scope)
        if rendering.items is None:
            return opening
        items = find(body, rendering.items)
        if isinstance(items, Missing) or not isinstance(items, list):
            return opening
        if not items:
            return fill(rendering.empty.get(self._language, ""), scope)
        path = rendering.items.removeprefix("$").strip(".")
        found = Found(items, path, reading.totals.get(path, len(items)))
        lines = self._rows(items, found.total, scope, reading) or lines_of(found, reading)
        return "\n".join([opening or self._list_opening(found.total), *lines])

    def _rows(self, items: list[JsonValue], total: int, scope: Scope, reading: Reading) -> list[str]:
        template = self._call.endpoint.rendering.row.get(self._language, "")
        said = [fill(template, scope.of_row(item)) for item in items[: rows_shown(total)]]
        lines = [f"– {line}" for line in said if line]
        return lines + more_line(total - len(lines), reading) if lines else []

    def _list_opening(self, total: int) -> str:
        form = plural_form(total, self._language, phrases("formatting.found_list", self._language))
        return form.format(count=spoken_number(total, self._language), title=self._topic)

    def _generic(self, body: JsonValue, reading: Reading) -> str:
        found = unwrap(body, reading)
        if found.value is None or found.value == "":
            return self._without_body()
        if isinstance(found.value, list) and not found.value:
            return text("formatting.empty", self._language, title=self._topic)
        words = words_of(found.value, found.path, reading) if isinstance(found.value, list) else ""
        lines = [] if words else lines_of(found, reading)
        if lines:
            return self._opened(found, lines)
        said = words or say_field("", found.value, {}, reading)
        return (
            f"{capital(self._topic)}: {said}" if said else text("formatting.empty", self._language, title=self._topic)
        )

    def _opened(self, found: Found, lines: list[str]) -> str:
        if isinstance(found.value, list):
            return "\n".join([self._list_opening(found.total), *lines])
        if len(lines) <= _SHORT_OBJECT and not any(line.endswith(":") for line in lines):
            fields = "; ".join(line.removeprefix("– ") for line in lines)
            return f"{capital(self._topic)} – {fields[:1].lower() + fields[1:]}"
        return "\n".join([text("formatting.found", self._language, title=self._topic), *lines])

    def _without_body(self) -> str:
        if self._call.endpoint.method == "GET":
            return text("formatting.empty", self._language, title=self._topic)
        return text("formatting.done", self._language, title=self._topic)
