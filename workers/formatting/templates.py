"""Parses operators' templates: text with {fields}, cut into sentences and clauses that stand or fall together.

    {path}                  a value of the row, of the body, or of the call's parameters
    {path|filter:arguments} the value through one filter or several
    [ … ]                   left out when a field inside has no value
    {{ }} [[ ]]             the characters themselves

A field without a value takes its clause with it: the part between commas or semicolons, or the whole sentence when
it is the sentence's first clause. Nothing here raises: a template that can't be read is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_PIECE = re.compile(r"\{\{|\}\}|\[\[|\]\]|\{(?P<field>[^{}\n]+)\}|(?P<open>\[)|(?P<close>\])|[^{}\[\]]+|[{}]")
_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+|\n+")
_CLAUSE_START = re.compile(r"(?=[,;] )")
_ESCAPES = {"{{": "{", "}}": "}", "[[": "[", "]]": "]"}


@dataclass(frozen=True)
class Filter:
    """One step that a value goes through: its name and its comma-separated arguments."""

    name: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Field:
    """A place to fill."""

    path: str
    filters: tuple[Filter, ...] = ()


@dataclass(frozen=True)
class Optional:
    """A bracketed part."""

    nodes: tuple[Node, ...]


Node = str | Field | Optional


@dataclass(frozen=True)
class Sentence:
    """Clauses in order, and the white space that follows the sentence."""

    clauses: tuple[tuple[Node, ...], ...]
    after: str = ""


@lru_cache(maxsize=2_000)
def parse(template: str) -> tuple[Sentence, ...]:
    """Cut a template into sentences."""
    sentences: list[Sentence] = []
    clauses: list[list[Node]] = [[]]
    for node in _nodes(template):
        if not isinstance(node, str):
            clauses[-1].append(node)
            continue
        for text, after in _sentences_of(node):
            _add_text(clauses, text)
            if after:
                sentences.append(Sentence(tuple(tuple(clause) for clause in clauses), after))
                clauses = [[]]
    return (*sentences, Sentence(tuple(tuple(clause) for clause in clauses)))


def _sentences_of(text: str) -> list[tuple[str, str]]:
    """Cut text behind each sentence; the last piece has no white space after it."""
    pieces: list[tuple[str, str]] = []
    at = 0
    for end in _SENTENCE_END.finditer(text):
        pieces.append((text[at : end.start()], end.group()))
        at = end.end()
    return [*pieces, (text[at:], "")]


def _add_text(clauses: list[list[Node]], text: str) -> None:
    first, *rest = _CLAUSE_START.split(text)
    if first:
        clauses[-1].append(first)
    clauses.extend([clause] for clause in rest)


def _nodes(template: str) -> list[Node]:
    stack: list[list[Node]] = [[]]
    for piece in _PIECE.finditer(template):
        if piece["field"]:
            stack[-1].append(_field(piece["field"]))
        elif piece["open"]:
            stack.append([])
        elif piece["close"] and len(stack) > 1:
            inner = tuple(stack.pop())
            stack[-1].append(Optional(inner))
        else:
            _append_text(stack[-1], _ESCAPES.get(piece.group(), piece.group()))
    while len(stack) > 1:  # a bracket that never closes is a character
        inner_nodes = stack.pop()
        _append_text(stack[-1], "[")
        stack[-1].extend(inner_nodes)
    return stack[0]


def _append_text(nodes: list[Node], text: str) -> None:
    if nodes and isinstance(nodes[-1], str):
        nodes[-1] += text
    else:
        nodes.append(text)


def _field(source: str) -> Field:
    path, *filters = source.split("|")
    return Field(path.strip(), tuple(_filter(one) for one in filters))


def _filter(source: str) -> Filter:
    name, colon, arguments = source.partition(":")
    return Filter(name.strip(), tuple(part.strip() for part in arguments.split(",")) if colon else ())
