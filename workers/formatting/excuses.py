"""Words a call that failed: the sentence of its reason, and the API's own words where they are fit to be shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from schemas.base import JsonValue
from schemas.calls import CallFailed, FailureReason
from schemas.endpoints import Language
from workers.formatting.quoting import clean, quoted
from workers.messages.catalog import text

REASON_LIMIT = 200
_REASON_KEYS = ("detail", "message", "error_description", "errorMessage", "msg", "description", "error", "title")
_LIST_KEYS = ("errors", "fields", "violations", "details", "detail", "fieldErrors")
_ERRORS_READ = 3
_DEEPEST = 4
# Stack traces, queries, file paths, addresses of machines, and secrets say too much about somebody's server.
_INTERNAL = re.compile(
    r"Traceback|Exception\b|\bat [\w.$]+\(|\bselect\b.+\bfrom\b|\binsert into\b"
    r"|[A-Za-z]:\\|/(?:usr|var|home|app|opt|etc)/"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b|(?:password|secret|token|api[_-]?key|bearer)\b|\.(?:py|java|js|php|go|cs):\d+|<html"
    r"|0x[0-9a-f]{6,}|://",
    re.IGNORECASE,
)
_HAS_WORDS = re.compile(r"[^\W\d_]{2,}")


def excuse(failed: CallFailed, language: Language, *, reasons: Sequence[str] = ()) -> str:
    """Say why there is no answer; a 4xx adds the API's own reason when it is short and plain.

    `reasons` are what it said of single values; where people should see none of them, its reason as a whole is taken.
    """
    sentence = text(f"call.{failed.reason}", language)
    if failed.reason is not FailureReason.CLIENT_ERROR:
        return sentence
    shown = list(dict.fromkeys(plain for said in reasons if (plain := _of_value(said))))[:_ERRORS_READ]
    whole = None if shown else own_reason(failed.body)
    quotes = [quoted(reason, language, limit=REASON_LIMIT) for reason in shown or ([whole] if whole else [])]
    return f"{sentence} {text('formatting.reason', language, quote='; '.join(quotes))}" if quotes else sentence


def _of_value(said: str) -> str | None:
    """Return what is said of one value if people may see it; one word ("invalid") is enough here."""
    plain = clean(said, limit=REASON_LIMIT)
    return plain if _HAS_WORDS.search(plain) and not _INTERNAL.search(said) else None


def own_reason(body: JsonValue) -> str | None:
    """Find the words in which an API explains its refusal; None when there are none that people should see."""
    for said in _candidates(body, 0):
        plain = clean(said, limit=REASON_LIMIT + 1)
        if len(said) <= 2 * REASON_LIMIT and len(plain) <= REASON_LIMIT and _is_for_people(said, plain):
            return plain
    return None


def _is_for_people(said: str, plain: str) -> bool:
    return _HAS_WORDS.search(plain) is not None and " " in plain and _INTERNAL.search(said) is None


def _candidates(body: JsonValue, depth: int) -> Iterator[str]:
    """Yield what may be a reason, the most detailed first."""
    if isinstance(body, str):
        yield body
    if depth >= _DEEPEST:
        return
    if isinstance(body, list):
        parts: list[JsonValue] = body[:_ERRORS_READ]
    elif isinstance(body, dict):
        lists = [body[key] for key in _LIST_KEYS if isinstance(body.get(key), list | dict)]
        parts = lists + [body[key] for key in _REASON_KEYS if isinstance(body.get(key), str | dict)]
    else:
        parts = []
    for part in parts:
        yield from _candidates(part, depth + 1)
