"""Takes one field's text out of a model's stream, piece by piece. Pure.

A model that keeps DSPy's chat form writes `[[ ## field ## ]]`, the text, then another mark. Only the text between
leaves here, at once; what may be the beginning of a mark is held back until it is known. A model that answers in JSON
or without any mark streams nothing: its answer is read when it is whole.
"""

from __future__ import annotations

import re

_MARK = re.compile(r"\[\[\s*##\s*(\w+)\s*##\s*\]\]")
# White space before a mark belongs to the mark.
_MARK_BEGINNING = re.compile(r"\s*(?:\[(?:\[\s*(?:#(?:#[\s\w]*(?:#(?:#[\s]*\]?)?)?)?)?)?)?$")


class FieldStream:
    """Reads the pieces of one answer. `feed` returns what may be shown now."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._held = ""
        self._is_inside = False
        self._is_over = False
        self._has_begun = False

    def feed(self, piece: str) -> str:
        """Take a piece; return the text of the field that it completes, often empty."""
        if self._is_over:
            return ""
        self._held += piece
        if not self._is_inside and not self._enter():
            return ""
        return self._take()

    def _enter(self) -> bool:
        for mark in _MARK.finditer(self._held):
            if mark.group(1) == self._field:
                self._held = self._held[mark.end() :]
                self._is_inside = True
                return True
        return False

    def _take(self) -> str:
        mark = _MARK.search(self._held)
        if mark:
            self._is_over = True
            said = self._held[: mark.start()].rstrip()
            self._held = ""
            return self._opened(said)
        beginning = _MARK_BEGINNING.search(self._held)
        cut = beginning.start() if beginning else len(self._held)
        said, self._held = self._held[:cut], self._held[cut:]
        return self._opened(said)

    def _opened(self, said: str) -> str:
        if not self._has_begun:
            said = said.lstrip()
            self._has_begun = bool(said)
        return said
