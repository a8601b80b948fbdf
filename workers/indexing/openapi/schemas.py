"""JSON Schema, as OpenAPI uses it, becomes parameters. Every loss is noted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from workers.indexing.openapi.document import Document, Node, Place, RefusedAt, escaped, texts

_DEEPEST = 5
_MOST_NESTED = 1_000
_MOST_SCHEMAS = 5_000
_LONGEST_POINTER = 2_000
_LARGEST_EXAMPLE = 500
_LONGEST_TEXT = 2_000
_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object"})
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_DATES = {"date": "date", "date-time": "datetime"}


@dataclass
class Flat:
    """A schema with its combinations resolved. Properties keep their places: they are read when they are needed."""

    type: str = ""
    keywords: Node = field(default_factory=dict)
    enum: list[Any] = field(default_factory=list)
    properties: dict[str, Place] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    items: Place | None = None
    is_cyclic: bool = False

    def absorb(self, other: Flat) -> None:
        """Add what another schema says that holds too (allOf); what was said first stays."""
        self.type = self.type or other.type
        self.keywords = {**other.keywords, **self.keywords}
        self.enum = self.enum or other.enum
        self.properties = {**other.properties, **self.properties}
        self.required |= other.required
        self.items = self.items or other.items


class Schemas:
    """Reads the schemas of one operation; `notes` gathers what was changed, as (pointer, sentence)."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.notes: list[tuple[str, str]] = []
        self._left = _MOST_NESTED
        self._schemas_left = _MOST_SCHEMAS

    def flat(self, place: Place) -> Flat:
        """Follow references and merge allOf, oneOf and anyOf. Raises RefusedAt for broken references."""
        reference = place.node.get("$ref")
        if isinstance(reference, str) and self._document.absolute(reference, place.pointer) in place.refs:
            self.note(place.pointer, f"{reference} contains itself; it is taken as a plain object from here on")
            return Flat(type="object", is_cyclic=True)
        self._schemas_left -= 1
        if self._schemas_left < 0 or len(place.pointer) > _LONGEST_POINTER:
            self.note(
                place.pointer.partition("/allOf")[0][:200], "combined too widely or too deeply; taken as an object"
            )
            return Flat(type="object", is_cyclic=True)
        here = self._document.follow(place)
        node = here.node
        flat = Flat(
            type=_type(node.get("type")),
            keywords={key: node[key] for key in _KEPT if node.get(key) is not None},
            enum=_enum(node),
            required=set(texts(node, "required")),
        )
        if isinstance(node.get("properties"), dict):
            flat.properties = {str(name): _property(here, name) for name in node["properties"]}
        if isinstance(node.get("items"), dict):
            flat.items = here.child("items")
        for part in here.children("allOf"):
            flat.absorb(self.flat(part))
        for combination in ("oneOf", "anyOf"):
            self._choose(flat, here, combination)
        flat.type = flat.type or _guessed(flat)
        return flat

    def _choose(self, flat: Flat, here: Place, combination: str) -> None:
        """Take one of several: what any alternative knows is known, what all require is required."""
        choices = [part for part in here.children(combination) if _type(part.node.get("type")) != "null"]
        alternatives = [self.flat(part) for part in choices]
        if not alternatives:
            return
        if len(alternatives) > 1:
            self.note(f"{here.pointer}/{combination}", "any property of the alternatives may be given")
        shared = set.intersection(*(one.required for one in alternatives))
        kinds = {one.type for one in alternatives}
        joined = Flat(type=kinds.pop() if len(kinds) == 1 else _widest(kinds), required=shared)
        if all(one.enum for one in alternatives):
            joined.enum = list({json.dumps(v): v for one in alternatives for v in one.enum}.values())
        for one in alternatives:
            joined.properties = _either(joined.properties, one.properties)
            joined.items = joined.items or one.items
        if len(alternatives) == 1:
            joined.keywords = alternatives[0].keywords
        flat.absorb(joined)

    def param(self, name: str, place: Place, *, depth: int = 0) -> Node:
        """Describe one schema as a registration's parameter, with nested ones down to five levels."""
        flat = self.flat(place)
        param: Node = {"name": name, "type": _param_type(flat)}
        text = str(flat.keywords.get("description") or flat.keywords.get("title") or "")
        if text:
            param["description"] = plain(text)[:_LONGEST_TEXT]
        if flat.enum and flat.type not in ("array", "object"):
            param["enum"] = [written(value) for value in flat.enum]
        for key in ("format", "default", "example"):
            if flat.keywords.get(key) is not None:
                self.carry(param, key, flat.keywords[key], place)
        examples = flat.keywords.get("examples")
        if "example" not in param and isinstance(examples, list) and examples:
            self.carry(param, "example", examples[0], place)
        if flat.type == "array" and flat.items is not None:
            param.update(self._nested_items(flat.items, depth))
        if flat.type == "object" and flat.properties:
            param.update(self._nested_properties(flat, place, depth))
        return param

    def carry(self, param: Node, key: str, value: Any, place: Place) -> None:
        """Copy a default or an example, unless it is so large that YAML's aliases may have made it so."""
        if _is_small(value):
            param[key] = value
        else:
            self.note(place.pointer, f"its {key} is left out: it is too large")

    def _nested_items(self, items: Place, depth: int) -> Node:
        return {} if not self._may_go_on(items, depth) else {"items": self._nested("item", items, depth=depth + 1)}

    def _nested_properties(self, flat: Flat, place: Place, depth: int) -> Node:
        if not self._may_go_on(place, depth):
            return {}
        nested = []
        for name, schema in flat.properties.items():
            if 0 < len(name) <= LONGEST_NAME and not self.is_read_only(schema):
                param = self._nested(name, schema, depth=depth + 1)
                nested.append({**param, "required": name in flat.required})
        return {"properties": nested}

    def _nested(self, name: str, place: Place, *, depth: int) -> Node:
        """Describe what lies inside; what can't be read is taken as a text."""
        try:
            return self.param(name, place, depth=depth)
        except RefusedAt as refused:
            self.note(refused.pointer, f"{refused.reason}; {name} is taken as a text")
            return {"name": name, "type": "string"}

    def is_read_only(self, place: Place) -> bool:
        """Whether only answers carry it; a reference that leads nowhere does not say so."""
        try:
            return self._document.follow(place).node.get("readOnly") is True
        except RefusedAt:
            return False

    def _may_go_on(self, place: Place, depth: int) -> bool:
        self._left -= 1
        if depth < _DEEPEST and self._left > 0:
            return True
        self.note(place.pointer, "nested too deeply or too widely; what lies inside is not described")
        return False

    def note(self, pointer: str, sentence: str) -> None:
        """Say once what was changed."""
        if (pointer, sentence) not in self.notes:
            self.notes.append((pointer, sentence))


_KEPT = ("description", "title", "format", "default", "example", "examples", "readOnly", "contentMediaType")
LONGEST_NAME = 200


def plain(text: str) -> str:
    """Take control characters out; the door would refuse them."""
    return _CONTROL.sub("", text)


def written(value: object) -> str:
    """Write an allowed value as it travels: texts as they are, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _type(given: object) -> str:
    """Return the type; of several (OpenAPI 3.1) the one that is not null, or the widest."""
    if isinstance(given, list):
        kinds = {str(one) for one in given} - {"null"}
        return kinds.pop() if len(kinds) == 1 else _widest(kinds)
    return str(given) if given is not None else ""


def _widest(kinds: Iterable[str]) -> str:
    """Return a type that can hold them all."""
    left = {kind for kind in kinds if kind}
    if left == {"integer", "number"}:
        return "number"
    return "object" if left and left <= {"object"} else "string" if left else ""


def _property(owner: Place, name: Any) -> Place:
    """Step down to a property; `true`, which allows anything, is an empty schema."""
    schema = owner.node["properties"][name]
    return Place(schema if isinstance(schema, dict) else {}, f"{owner.pointer}/properties/{escaped(name)}", owner.refs)


def _either(known: dict[str, Place], more: dict[str, Place]) -> dict[str, Place]:
    """Join the properties of alternatives; one that several fix (a discriminator) may have any of their values."""
    joined = {**more, **known}
    for name in known.keys() & more.keys():
        first, second = _enum(known[name].node), _enum(more[name].node)
        if first and second and first != second:
            values = list({json.dumps(value): value for value in [*first, *second]}.values())
            node = {key: value for key, value in known[name].node.items() if key != "const"}
            joined[name] = known[name]._replace(node={**node, "enum": values})
    return joined


def _is_small(value: Any) -> bool:
    """Whether a value has at most a few hundred parts."""
    waiting, left = [value], _LARGEST_EXAMPLE
    while waiting and left > 0:
        one = waiting.pop()
        left -= 1
        if isinstance(one, dict | list):
            waiting += one.values() if isinstance(one, dict) else one
    return not waiting


def _enum(node: Node) -> list[Any]:
    if "const" in node:
        return [node["const"]]
    listed = node.get("enum")
    return [value for value in listed if value is not None] if isinstance(listed, list) else []


def _guessed(flat: Flat) -> str:
    if flat.properties:
        return "object"
    if flat.items is not None:
        return "array"
    kinds = {_JSON_TYPES.get(type(value), "string") for value in flat.enum}
    return kinds.pop() if len(kinds) == 1 else "string"


_JSON_TYPES: dict[type, str] = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def _param_type(flat: Flat) -> str:
    if flat.type == "string":
        return _DATES.get(str(flat.keywords.get("format")), "string")
    return flat.type if flat.type in _TYPES else "string"
