"""Makes other people's strings safe to say: they are data, shown as plain words, never as markup or addresses.

What an API sends may have been written by anybody. Tags, links, images, invisible and control characters are taken
out, and the rest is bounded, so that a value can neither style the page, lead the reader away, nor look like JSON.
"""

from __future__ import annotations

import html
import re
import unicodedata

from schemas.endpoints import Language

VALUE_LIMIT = 300
ROW_LIMIT = 120
_READ_AT_MOST = 4_000
_UNWRAPPINGS = 4

_SCRIPT = re.compile(r"<(script|style)\b[^<>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_BREAK = re.compile(r"<(?:br|/p|/li|/div|/tr|/h\d)\s*/?>", re.IGNORECASE)
_TAG = re.compile(r"<[A-Za-z/!?][^<>]*(?:>|$)")
_IMAGE = re.compile(r"!\[[^\[\]]*\]\([^()]*\)")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_ADDRESS = re.compile(r"(?:\b[a-z][a-z0-9+.-]{1,20}://|\bwww\.)\S+|\b(?:javascript|vbscript|data):\S+", re.IGNORECASE)
_EMPHASIS = re.compile(r"\*\*|__|~~|`+|(?:^|(?<=\n))\s*#{1,6}\s+")
_SPACES = re.compile(r"[ \t\n]+")
_BRACES = str.maketrans("{}", "()")
_KEPT_FORMATS = "\u200d"  # joins emoji
_QUOTES: dict[Language, tuple[str, str]] = {"en": ("“", "”"), "et": ("„", "“"), "ru": ("«", "»")}


def clean(text: str, *, limit: int = VALUE_LIMIT) -> str:
    """Return the text as one plain line of at most `limit` characters; "" when nothing sayable is left."""
    plain = _without_markup(_visible(text[:_READ_AT_MOST]))
    return shortened(_SPACES.sub(" ", plain.translate(_BRACES)).strip(), limit=limit)


def quoted(text: str, language: Language, *, limit: int = VALUE_LIMIT) -> str:
    """Return the cleaned text in the language's quotation marks."""
    opening, closing = _QUOTES[language]
    return f"{opening}{clean(text, limit=limit)}{closing}"


def shortened(text: str, *, limit: int) -> str:
    """Cut at a word, with an ellipsis, when the text is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    at_word = head.rsplit(" ", 1)[0]
    return (at_word if len(at_word) > limit // 2 else head).rstrip(" ,;:.–") + "…"


def is_address(text: str) -> bool:
    """Whether the text is nothing but a link."""
    return _ADDRESS.fullmatch(text.strip()) is not None


def _visible(text: str) -> str:
    return "".join(kept for kept in map(_shown, text) if kept)


def _shown(char: str) -> str:
    if char.isspace():
        return "\n" if char == "\n" else ("\u00a0" if char == "\u00a0" else " ")
    if unicodedata.category(char)[0] == "C" and char not in _KEPT_FORMATS:
        return ""
    return char


def _without_markup(text: str) -> str:
    """Take markup out until none is left: `&lt;b&gt;` hides a tag, and a removed tag may join two halves of one."""
    for _ in range(_UNWRAPPINGS):
        before = text
        text = _visible(html.unescape(text))
        text = _TAG.sub("", _BREAK.sub("\n", _SCRIPT.sub("", text)))
        text = _ADDRESS.sub("", _LINK.sub(r"\1", _IMAGE.sub("", text)))
        text = _EMPHASIS.sub("", text)
        if text == before:
            return text
    return text.replace("<", "").replace(">", "")
