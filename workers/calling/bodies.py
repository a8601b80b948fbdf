"""From the bytes of an answer to JSON, text, or nothing. Pure; whatever the bytes are, only two errors come out."""

from __future__ import annotations

import codecs
import contextlib
import html
import json
import re
from dataclasses import dataclass
from email.message import Message

from schemas.base import JsonValue
from workers.calling.redacting import Redaction
from workers.calling.tables import TableUnreadable, read_csv
from workers.calling.xml_bodies import XmlTooDeep, XmlUnreadable, read_xml

MAX_DEPTH = 100
_JSON_LINES = frozenset(
    {"application/x-ndjson", "application/jsonl", "application/x-jsonlines", "application/json-lines"}
)
_TABLES = {"text/csv": None, "application/csv": None, "text/tab-separated-values": "\t"}
# Text codecs that are slow, or that decode to something else than what is written.
_ODD_CODECS = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7"})
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HTML = re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,500})", re.IGNORECASE)
_TITLE_CHARS = 100
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_ODD_LATIN = re.compile(rb"[\x80-\x9f]")


class BodyUnreadable(Exception):
    """The body is nothing to answer from: broken JSON, an HTML page, an image."""


class _HtmlPage(BodyUnreadable):
    """A page for browsers; `title` is for the log."""

    def __init__(self, text: str) -> None:
        found = _TITLE.search(text)
        self.title = " ".join(html.unescape(found[1]).split()) if found else "without a title"
        super().__init__("an HTML page")


class BodyTooDeep(Exception):
    """JSON nested beyond MAX_DEPTH levels."""


# Control characters that no text format uses; an archive or a PDF has many.
_NO_TEXT = re.compile(r"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True)
class MediaType:
    """A parsed Content-Type: `name` is lower-case without parameters, empty when none was sent."""

    name: str
    charset: str | None = None

    @property
    def is_binary(self) -> bool:
        """Pictures, sounds, films, fonts; SVG is text."""
        family = self.name.partition("/")[0]
        return family in ("image", "audio", "video", "font") and not self.name.endswith("+xml")

    @property
    def is_json(self) -> bool:
        """JSON, problem+json, and anything else with the +json suffix (RFC 6839)."""
        return self.name in ("application/json", "text/json") or self.name.endswith("+json")

    @property
    def is_xml(self) -> bool:
        """XML, and data of any kind with the +xml suffix (RFC 7303); a drawing is none."""
        is_suffixed = self.name.endswith("+xml") and not self.name.startswith("image/")
        return self.name in ("application/xml", "text/xml") or is_suffixed


def media_type(header: str) -> MediaType:
    """Parse a Content-Type header; nonsense gives an empty name."""
    if not header.strip():
        return MediaType("")
    message = Message()
    message["content-type"] = header.replace("\r", " ").replace("\n", " ")
    charset = message.get_param("charset")
    name = header.partition(";")[0].strip().lower()
    return MediaType(name, charset.strip() if isinstance(charset, str) and charset.strip() else None)


def read_body(data: bytes, content_type: str, *, secrets: frozenset[str] = frozenset()) -> JsonValue:
    """Decode the bytes, and read the text as `read_text` does."""
    media = media_type(content_type)
    return read_text(to_text(data, media.charset), media, secrets=secrets)


def read_text(text: str, media: MediaType, *, secrets: frozenset[str] = frozenset()) -> JsonValue:
    """Return parsed JSON; a list for JSON lines and CSV, an object for XML, else the text; None for nothing.

    `secrets` are blanked out wherever the answer repeats them. JSON that carries no media type, or a plain-text one,
    is recognised by its form. NaN and infinities become null; unpaired surrogates become "?".

    Raises:
        BodyUnreadable: an HTML page, broken JSON, or bytes that are no text (an image, an archive).
        BodyTooDeep: JSON nested too deeply.
    """
    text = text.strip("\x00")
    if not text.strip():
        return None
    redaction = Redaction(secrets)
    try:
        return redaction.value(_read(text, media))
    except _HtmlPage as error:
        raise BodyUnreadable(f"an HTML page: {redaction.text(error.title)[:_TITLE_CHARS]}") from None


def _read(text: str, media: MediaType) -> JsonValue:
    if media.is_binary or (not media.is_json and _NO_TEXT.search(text)):
        raise BodyUnreadable("no text")
    if media.name in _JSON_LINES:
        return [_parse(line) for line in text.splitlines() if line.strip()]
    if "html" in media.name or _HTML.match(text):
        raise _HtmlPage(text)
    try:
        if media.is_xml:
            return read_xml(text)
        if media.name in _TABLES:
            return read_csv(text, delimiter=_TABLES[media.name])
    except XmlTooDeep as error:
        raise BodyTooDeep from error
    except (XmlUnreadable, TableUnreadable) as error:
        raise BodyUnreadable("broken XML or CSV") from error
    return _json_or_text(text, media)


def _json_or_text(text: str, media: MediaType) -> JsonValue:
    looks_like_json = text.lstrip()[:1] in ("{", "[")
    if media.is_json:
        try:
            return _parse(text)
        except BodyUnreadable:
            if looks_like_json:
                raise
            return text  # a bare word, sent as JSON by mistake
    if looks_like_json and media.name in ("", "text/plain", "application/octet-stream", "text/javascript"):
        try:
            return _parse(text)
        except BodyUnreadable:
            return text
    return text


def _parse(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise BodyTooDeep from None
    except ValueError as error:
        raise BodyUnreadable("broken JSON") from error
    if _is_too_deep(value):
        raise BodyTooDeep
    return _paired(value) if "\\u" in text else value


def _no_number(_name: str) -> None:
    return None


def _is_too_deep(value: JsonValue) -> bool:
    """Walk level by level, looking at containers only: a few ms for 2 MiB."""
    level: list[JsonValue] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _paired(value: JsonValue) -> JsonValue:
    """Replace unpaired surrogates: they cannot be written as UTF-8 and would break the outcome's record."""
    written = json.dumps(value, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:
        repaired: JsonValue = json.loads(written.encode(errors="replace"))
        return repaired
    return value


def is_garbled(text: str) -> bool:
    """Whether some bytes stood for no letter: they became U+FFFD, here or before they were sent."""
    return "\ufffd" in text


def to_text(data: bytes, charset: str | None) -> str:
    """Decode by byte order mark, then the declared charset, then detection, then with replacement characters."""
    for mark, codec in _BOMS:
        if data.startswith(mark):
            return data.decode(codec, errors="replace")
    for name in filter(None, (_known_codec(charset), "utf-8")):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(name)
    # Looked at byte by byte, so only what is not what it should be.
    with contextlib.suppress(UnicodeDecodeError):
        return data.decode(_guess(data))
    return data.decode("utf-8", errors="replace")


def _known_codec(charset: str | None) -> str | None:
    if charset is None:
        return None
    try:
        name = codecs.lookup(charset.strip("\"' ")).name
        "".encode(name)
    except (LookupError, ValueError):
        return None
    return None if name in _ODD_CODECS else name


def _guess(data: bytes) -> str:
    """Tell the 8-bit code pages of our languages apart, once UTF-8 is ruled out.

    Cyrillic words are runs of high bytes; in Estonian a high byte stands alone among ASCII letters. The C1 range is
    letters in windows-1252 (š and ž) and unused in windows-1257 for them.
    """
    runs = _HIGH_RUN.findall(data)
    alone = sum(1 for run in runs if len(run) == 1)
    if alone * 2 < len(runs):
        return "windows-1251"
    return "windows-1252" if _ODD_LATIN.search(data) else "windows-1257"
