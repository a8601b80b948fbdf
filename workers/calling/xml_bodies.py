"""XML → the JSON shape that the formatter reads. Pure. No document type, so no entities to expand or to fetch.

An element with nothing inside is null, with text only its text; else an object of its attributes (`@name`), its
children by name (a list when a name repeats), and its own text (`#text`). Namespace prefixes are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from schemas.base import JsonValue

MAX_DEPTH = 100


class XmlUnreadable(Exception):
    """Broken XML, or a document type."""


class XmlTooDeep(Exception):
    """Elements nested beyond MAX_DEPTH levels."""


@dataclass
class _Element:
    name: str
    content: dict[str, JsonValue] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def value(self) -> JsonValue:
        text = "".join(self.texts).strip()
        if not self.content:
            return text or None
        return {**self.content, "#text": text} if text else self.content

    def add(self, name: str, value: JsonValue) -> None:
        held = self.content.get(name)
        if name not in self.content:
            self.content[name] = value
        elif isinstance(held, list):
            held.append(value)
        else:
            self.content[name] = [held, value]


@dataclass
class _Builder:
    open: list[_Element] = field(default_factory=lambda: [_Element("")])

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.open) > MAX_DEPTH:
            raise XmlTooDeep
        element = _Element(_local(name))
        element.content = {f"@{_local(key)}": value for key, value in attributes.items() if not key.startswith("xmlns")}
        self.open.append(element)

    def end(self, _name: str) -> None:
        element = self.open.pop()
        self.open[-1].add(element.name, element.value())

    def text(self, text: str) -> None:
        self.open[-1].texts.append(text)


def read_xml(text: str) -> JsonValue:
    """Return `{root: …}`. Raises XmlUnreadable and XmlTooDeep."""
    builder = _Builder()
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(text.encode(errors="replace"), True)
    except expat.ExpatError as error:
        raise XmlUnreadable(expat.errors.messages.get(error.code, "broken")) from error
    return builder.open[0].content


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _refuse_doctype(*_: object) -> None:
    raise XmlUnreadable("a document type")
