"""Reads the text of an API document and finds what its references point at."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import unquote

import yaml

LARGEST_BYTES = 20_000_000
_METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace", "query")
_LONGEST_CHAIN = 50

Node = dict[str, Any]


class DocumentRefused(ValueError):
    """This text is no document that can be read; the message says why."""


class RefusedAt(ValueError):
    """One place of the document can't be used. `pointer` is its JSON pointer (RFC 6901)."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(pointer, reason)
        self.pointer = pointer
        self.reason = reason


class Place(NamedTuple):
    """A mapping of the document and the JSON pointer to it; `refs` are the references followed to come here."""

    node: Node
    pointer: str
    refs: frozenset[str] = frozenset()

    def child(self, *keys: str | int) -> Place:
        """Step down; raises RefusedAt where no mapping stands."""
        node: Any = self.node
        pointer = self.pointer
        for key in keys:
            pointer = f"{pointer}/{escaped(key)}"
            try:
                node = node[key]
            except (KeyError, IndexError, TypeError):
                raise RefusedAt(pointer, "nothing stands there") from None
        if not isinstance(node, dict):
            raise RefusedAt(pointer, "a mapping is expected here")
        return Place(node, pointer, self.refs)

    def children(self, key: str) -> Iterator[Place]:
        """Step down to every element of a list, or to none when there is no list."""
        listed = self.node.get(key)
        for at in range(len(listed)) if isinstance(listed, list) else ():
            yield self.child(key, at)


def texts(node: Node, key: str) -> list[str]:
    """Return the texts of a list; empty when there is no list."""
    listed = node.get(key)
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []


def escaped(key: str | int) -> str:
    """Write one step of a JSON pointer."""
    return str(key).replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True)
class Document:
    """A parsed document. `is_swagger` tells version 2 from 3."""

    root: Node
    version: str
    others: Mapping[str, Node] = field(default_factory=dict)
    """Documents beside it, by their path from its folder (`schemas/pet.yaml`); pointers into them begin with it."""

    @property
    def is_swagger(self) -> bool:
        return self.version.startswith("2")

    @property
    def top(self) -> Place:
        return Place(self.root, "#")

    def follow(self, place: Place) -> Place:
        """Return what a `$ref` points at, or the place itself.

        Keys beside a reference win from OpenAPI 3.1 on; before, all but a description are ignored, as its text says.

        Raises RefusedAt for references that lead out of the document, to nothing, or in a circle.
        """
        beside: Node = {}
        for _ in range(_LONGEST_CHAIN):
            reference = place.node.get("$ref")
            if not isinstance(reference, str):
                return Place({**place.node, **beside}, place.pointer, place.refs)
            beside = {**{key: place.node[key] for key in place.node if self._counts_beside(key)}, **beside}
            found, at = self._find(reference, asked_at=place.pointer)
            place = Place(found, at, place.refs | {at})
        raise RefusedAt(place.pointer, "references lead in a circle")

    def _counts_beside(self, key: str) -> bool:
        return key == "description" or (key != "$ref" and not self.version.startswith(("2", "3.0")))

    def absolute(self, reference: str, asked_at: str) -> str:
        """Return a reference as it is said from the main document."""
        file, _, fragment = reference.partition("#")
        return f"{beside(asked_at.partition('#')[0], unquote(file))}#{fragment}"

    def _find(self, reference: str, *, asked_at: str) -> tuple[Node, str]:
        at = f"{asked_at}/$ref"
        file, _, fragment = self.absolute(reference, asked_at).partition("#")
        node: Any = self.others.get(file) if file else self.root
        if node is None:
            raise RefusedAt(
                at, f"{reference} leads out of the document, to what can't be read; bundle it into one file"
            )
        for step in [one for one in fragment.split("/") if one]:
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            node = (
                node[int(key)] if isinstance(node, list) and key.isdigit() and int(key) < len(node) else _in(node, key)
            )
            if node is None:
                raise RefusedAt(at, f"{reference} leads to nothing")
        if not isinstance(node, dict):
            raise RefusedAt(at, f"{reference} leads to no mapping")
        return node, f"{file}#{fragment}"

    def operations(self, path: str) -> Iterator[tuple[str, str, Place]]:
        """Yield (method, path, path item) of a path's operations. Raises RefusedAt for a path that can't be read."""
        if path.startswith("x-"):
            return
        if not path.startswith("/"):
            raise RefusedAt(f"#/paths/{escaped(path)}", "a path begins with a slash")
        item = self.follow(self.top.child("paths", path))
        for method in _METHODS:
            if method in item.node:
                yield method.upper(), path, item


def beside(file: str, reference: str) -> str:
    """Return the path that a reference in a file names, from the main document's folder; ".." may lead out of it."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), reference)) if reference else file


def external_files(node: Any, file: str = "") -> set[str]:
    """Return the paths of other files that a document refers to; addresses and absolute paths are left out."""
    found: set[str] = set()
    waiting, seen = [node], set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen or not isinstance(one, dict | list):
            continue
        seen.add(id(one))  # YAML's aliases may lead in circles
        if isinstance(one, dict) and isinstance(one.get("$ref"), str):
            named = unquote(one["$ref"].partition("#")[0])
            if named and ":" not in named and not named.startswith("/"):
                found.add(beside(file, named))
        waiting += one.values() if isinstance(one, dict) else one
    return found


def _in(node: Any, key: str) -> Any:
    """Look a step up; YAML reads keys such as 200 as numbers."""
    if not isinstance(node, dict):
        return None
    return node.get(key, node.get(int(key)) if key.isdigit() else None)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc] # the C one where it is built
    """YAML as JSON means it: dates stay texts, and so do yes, no, on and off."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if not tag.endswith((":timestamp", ":bool"))]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), "tTfF")


def parse_text(text: str) -> Any:
    """Parse JSON or YAML. Raises DocumentRefused."""
    if len(text.encode("utf-8", "replace")) > LARGEST_BYTES:
        raise DocumentRefused(f"larger than {LARGEST_BYTES // 1_000_000} MB")
    try:
        is_json = text.lstrip("\ufeff \t\r\n").startswith("{")
        root = json.loads(text.lstrip("\ufeff")) if is_json else yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise DocumentRefused(f"neither JSON nor YAML: {error or 'nested too deeply'}") from error
    return root


def read_document(text: str, others: Mapping[str, str] | None = None) -> Document:
    """Parse JSON or YAML and check that it is OpenAPI 3 or Swagger 2. Raises DocumentRefused.

    `others` are the texts of files that it refers to, by their path from its folder; what can't be parsed is as if it
    were not there.
    """
    root = parse_text(text)
    if not isinstance(root, dict):
        raise DocumentRefused("a mapping with `openapi` or `swagger` is expected at the top")
    version = str(root.get("openapi") or root.get("swagger") or "")
    if not re.match(r"(2\.0|3\.[0-9])", version):
        raise DocumentRefused(f"`openapi: 3.x` or `swagger: 2.0` is expected at the top, not {version or 'nothing'}")
    if not isinstance(root.get("paths"), dict):
        only = "only webhooks, which the API calls itself" if root.get("webhooks") else "no paths"
        raise DocumentRefused(f"it describes {only}")
    return Document(root, version, _parsed(others or {}))


def _parsed(others: Mapping[str, str]) -> dict[str, Node]:
    parsed: dict[str, Node] = {}
    for path, text in others.items():
        try:
            root = parse_text(text)
        except DocumentRefused:
            continue
        if isinstance(root, dict):
            parsed[path] = root
    return parsed
