"""The bytes of Server-Sent Events (WHATWG HTML, section 9.2): pure, and safe for careless readers.

JSON is written on one data line. The line separators that some readers split at (U+2028, U+2029, U+0085) are escaped,
though the standard splits at CR, LF and CRLF only; those three JSON escapes anyway.
"""

from __future__ import annotations

import orjson

from schemas.base import JsonValue

_FOREIGN_LINE_ENDS = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"), (b"\xc2\x85", b"\\u0085"))


def one_line_json(value: JsonValue) -> bytes:
    """Write JSON that no reader's idea of a line break can cut."""
    text = orjson.dumps(value)
    if not text.isascii():
        for raw, escaped in _FOREIGN_LINE_ENDS:
            text = text.replace(raw, escaped)
    return text


def event(data: JsonValue, *, name: str = "", event_id: str = "") -> bytes:
    """Write one event; without a name it is a `message`, without an id the reader keeps its last one."""
    head = f"id: {event_id}\n" if event_id else ""
    if name:
        head += f"event: {name}\n"
    return head.encode() + b"data: " + one_line_json(data) + b"\n\n"


def comment(text: str) -> bytes:
    """Write a line that readers ignore; it keeps the connection alive."""
    return f": {text}\n\n".encode()


def farewell(text: str, *, retry_ms: int) -> bytes:
    """Tell the reader to come back after that many milliseconds; its last id says from where."""
    return f"retry: {retry_ms}\n: {text}\n\n".encode()
