"""Where a template's field looks for its value, and how the endpoint words it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import JsonValue
from schemas.calls import ApiCall
from schemas.endpoints import Language
from workers.formatting.paths import MISSING, Missing, find, first_found, in_language
from workers.formatting.quoting import clean


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The sources of values, nearest first: the row, the body, the call's parameters."""

    call: ApiCall
    body: JsonValue
    language: Language
    row: JsonValue = None

    @property
    def sources(self) -> Sequence[JsonValue]:
        return (self.row, self.body, self.call.arguments)

    def of_row(self, row: JsonValue) -> Scope:
        return Scope(call=self.call, body=self.body, language=self.language, row=row)

    def value(self, path: str) -> JsonValue | Missing:
        """Find a value; a path that starts with "$" looks in the body only."""
        if path.startswith("$"):
            return find(self.body, path)
        return first_found(self.sources, path)

    def text(self, path: str) -> str | None:
        """Find a string, in the turn's language where the API offers several; None when there is none."""
        found = self.value(path)
        if isinstance(found, Missing):
            return None
        said = found if isinstance(found, str) else in_language(found, self.language)
        return clean(said) if said is not None else None

    def label_of(self, param: str, value: str) -> str | None:
        """Return the words that the endpoint gives an enum value in this language."""
        spec = self.call.endpoint.param(param)
        options = spec.enum if spec else ()
        for option in options:
            if option.value.casefold() == value.casefold():
                return option.labels.get(self.language) or option.labels.get("en")
        return None


__all__ = ["MISSING", "Missing", "Scope"]
