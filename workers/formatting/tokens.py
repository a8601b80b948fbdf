"""Cuts a finished text into the pieces that are streamed."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Only breaking white space parts words: "127,40 €" with its no-break space stays one token.
_WORD = re.compile(r"[^ \t\r\n]+[ \t\r\n]*|[ \t\r\n]+")


def tokens(text: str) -> Iterator[str]:
    """Yield the words of the text, each with the white space after it; their concatenation is the text."""
    for word in _WORD.finditer(text):
        yield word.group()
