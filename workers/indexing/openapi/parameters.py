"""The parameters of one operation: those it lists, and the properties of its body or form."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from workers.indexing.openapi.document import Document, Node, Place, RefusedAt, texts
from workers.indexing.openapi.schemas import LONGEST_NAME, Schemas, plain

_FORM = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"
_MOST = 200
_BODY = "body"
_PLACES = ("path", "query", "header", "cookie")
_OURS = frozenset({"accept", "content-type", "authorization"})
"""OpenAPI says that header parameters of these names are ignored: media types and security describe them."""

_JSON = re.compile(r"(?:application|text)/(?:[\w.+-]+\+|x-)?json|\*/\*|application/\*")
_PLACEHOLDER = re.compile(r"\{([^{}/?#]+)\}")


@dataclass
class Gathered:
    """What an operation takes; `headers` go with every call, `body` says how a body is encoded (None: as JSON).

    `told` are all parameters that the document describes, those too that can't be sent.
    """

    params: list[Node] = field(default_factory=list)
    told: list[Node] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None


class ParameterReader:
    """Reads one operation. Raises RefusedAt for what makes a call impossible; notes the rest in `schemas`."""

    def __init__(self, document: Document, schemas: Schemas) -> None:
        self._document = document
        self._schemas = schemas
        self._gathered = Gathered()
        self.told = self._gathered.told
        self._names: dict[str, str] = {}

    def read(self, path: str, item: Place, operation: Place) -> Gathered:
        """Gather everything; the operation's own parameters win over those of its path."""
        listed: dict[tuple[str, str], Place] = {}
        for owner in (item, operation):
            for one in owner.children("parameters"):
                place = self._document.follow(one)
                name, where = str(place.node.get("name", "")), str(place.node.get("in", ""))
                if where not in (*_PLACES, "body", "formData"):
                    self._schemas.note(
                        place.pointer, f"a parameter in {where or 'no place'} is unknown; it is left out"
                    )
                listed[name, where] = place
        body = self._document.follow(operation.child("requestBody")) if "requestBody" in operation.node else None
        for (name, where), place in listed.items():
            if where in _PLACES:
                self._take_listed(name, where, place)
        self._declare_placeholders(path, operation)
        if self._document.is_swagger:
            self._swagger_body(listed, operation)
        elif body is not None:
            self._body(body)
        self._bound(operation)
        return self._gathered

    def _take_listed(self, name: str, where: str, place: Place) -> None:
        if where == "header" and name.lower() in _OURS:
            self._schemas.note(place.pointer, f"the header {name} is not asked for: media types and security set it")
            return
        is_required = where == "path" or place.node.get("required") is True
        self._take(name, where, _schema_of(place), is_required=is_required, described=place.node)

    def _take(self, name: str, where: str, schema: Place, *, is_required: bool, described: Node | None = None) -> None:
        """Add a parameter unless its name is taken; what describes it beside its schema wins over the schema."""
        if not 0 < len(name) <= LONGEST_NAME:
            raise RefusedAt(schema.pointer, f"a parameter's name has 1 to {LONGEST_NAME} characters")
        own = described or {}
        param = {**self._described(name, schema), "in": where, "required": is_required, **_serialization(own)}
        self._gathered.told.append(param)
        if name in self._names:
            self._schemas.note(schema.pointer, f"{name} in {where} is left out: {self._names[name]} has that name too")
            return
        if own.get("description"):
            param["description"] = plain(str(own["description"]))
        if own.get("example") is not None:
            self._schemas.carry(param, "example", own["example"], schema)
        if own.get("deprecated") is True and not is_required:
            self._schemas.note(schema.pointer, f"{name} is deprecated")
        self._names[name] = where
        self._gathered.params.append(param)

    def _described(self, name: str, schema: Place) -> Node:
        """Describe a schema; one that can't be read is taken as a text, so that its parameter is not lost."""
        try:
            return self._schemas.param(name, schema)
        except RefusedAt as refused:
            self._schemas.note(refused.pointer, f"{refused.reason}; {name} is taken as a text")
            return {"name": name, "type": "string"}

    def _declare_placeholders(self, path: str, operation: Place) -> None:
        """Declare what the path needs and nobody described."""
        for name in _PLACEHOLDER.findall(path):
            if self._names.get(name) != "path":
                note = f"{name} stands in the path and is not described; it is taken as a text"
                self._schemas.note(operation.pointer, note)
                self._take(name, "path", Place({"type": "string"}, operation.pointer), is_required=True)

    def _swagger_body(self, listed: dict[tuple[str, str], Place], operation: Place) -> None:
        """Swagger 2 lists the body, or the fields of a form, among the parameters."""
        form = {name: place for (name, where), place in listed.items() if where == "formData"}
        for (_, where), place in listed.items():
            if where == "body":
                self._take_body(_schema_of(place), is_required=place.node.get("required") is True)
        consumes = texts(operation.node, "consumes") or texts(self._document.root, "consumes")
        if form:
            self._gathered.body = "multipart" if consumes and _FORM not in consumes else "form"
        for name, place in form.items():
            is_required = place.node.get("required") is True
            if self._may_send(name, place, is_required=is_required):
                self._take(name, "body", place, is_required=is_required, described=place.node)

    def _body(self, body: Place) -> None:
        """Take the properties of the media type that we can send best."""
        content = body.node.get("content")
        kinds = [str(kind) for kind in content] if isinstance(content, dict) else []
        is_required = body.node.get("required") is True
        chosen = next((kind for kind in kinds if _JSON.fullmatch(kind.partition(";")[0].strip().lower())), None)
        chosen = chosen or next((kind for kind in kinds if kind.startswith(_FORM)), None)
        chosen = chosen or next((kind for kind in kinds if kind.startswith(_MULTIPART)), None)
        if chosen is None:
            self._cannot_send(body, f"a body of {', '.join(kinds) or 'no kind'} can't be sent", is_required=is_required)
            return
        if chosen.startswith((_FORM, _MULTIPART)):
            self._gathered.body = "multipart" if chosen.startswith(_MULTIPART) else "form"
        elif chosen.startswith("application/") and "+json" in chosen:
            self._gathered.headers["Content-Type"] = chosen
        media = body.child("content", chosen)
        if "schema" in media.node:
            self._take_body(_schema_of(media), is_required=is_required)

    def _take_body(self, schema: Place, *, is_required: bool) -> None:
        try:
            flat = self._schemas.flat(schema)
        except RefusedAt as refused:
            self._cannot_send(schema, refused.reason, is_required=is_required)
            return
        if flat.type != "object":
            self._take_value(schema, flat.type, is_required=is_required)
            return
        for name, place in flat.properties.items():
            needs = name in flat.required
            if not self._schemas.is_read_only(place) and self._may_send(name, place, is_required=needs):
                self._take(name, "body", place, is_required=needs)

    def _take_value(self, schema: Place, kind: str, *, is_required: bool) -> None:
        """A JSON body that is no object, such as a list, becomes one parameter that is the whole body."""
        if self._gathered.body or _BODY in self._names:
            self._cannot_send(schema, f"the body is of type {kind}, not an object", is_required=is_required)
            return
        self._gathered.body = "value"
        self._take(_BODY, "body", schema, is_required=is_required)

    def _cannot_send(self, place: Place, reason: str, *, is_required: bool) -> None:
        if is_required:
            raise RefusedAt(place.pointer, reason)
        self._schemas.note(place.pointer, f"{reason}; it is left out")

    def _may_send(self, name: str, place: Place, *, is_required: bool) -> bool:
        """Whether the property is no file."""
        try:
            flat = self._schemas.flat(place)
        except RefusedAt:
            return True  # `_take` tells what is wrong with it
        if flat.type != "file" and flat.keywords.get("format") != "binary":
            return True
        self._gathered.told.append({"name": name, "type": flat.type, "in": "body", "required": is_required})
        self._cannot_send(place, f"{name} is a file", is_required=is_required)
        return False

    def _bound(self, operation: Place) -> None:
        """Keep at most as many parameters as may be registered, the required ones first."""
        params = self._gathered.params
        if len(params) > _MOST:
            self._schemas.note(operation.pointer, f"only {_MOST} of {len(params)} parameters are kept")
            self._gathered.params = sorted(params, key=lambda param: not param["required"])[:_MOST]


def _schema_of(place: Place) -> Place:
    """Return the schema of a parameter or a body, wherever it stands; what is no mapping allows anything."""
    content = place.node.get("content")
    if "schema" in place.node:
        owner = place
    elif isinstance(content, dict) and content and isinstance(next(iter(content.values())), dict):
        owner = place.child("content", next(iter(content)))
    else:
        return place
    schema = owner.node.get("schema")
    return Place(schema if isinstance(schema, dict) else {}, f"{owner.pointer}/schema", owner.refs)


def _serialization(described: Node) -> Node:
    """Return how lists and objects are written, where it is said. Swagger 2 says it by `collectionFormat`."""
    if described.get("style") in _STYLES:
        explode = described.get("explode")
        return {"style": described["style"], **({"explode": explode} if isinstance(explode, bool) else {})}
    if isinstance(described.get("explode"), bool):
        return {"explode": described["explode"]}
    if described.get("type") == "array":
        style, explode = _COLLECTIONS.get(str(described.get("collectionFormat", "csv")), ("form", False))
        return {"style": style, "explode": explode} if described.get("in") == "query" else {}
    return {}


_STYLES = frozenset({"simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "deepObject"})
_COLLECTIONS = {
    "csv": ("form", False),
    "multi": ("form", True),
    "ssv": ("spaceDelimited", False),
    "pipes": ("pipeDelimited", False),
}
