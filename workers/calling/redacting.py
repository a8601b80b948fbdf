"""Blanks secrets out of what an API answers: some echo the credentials they were sent. Pure."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote, quote_plus

from schemas.base import JsonValue

HIDDEN = "***"
SHORTEST_SECRET = 4


class Redaction:
    """Finds secrets as they are, percent-encoded and in base64; shorter ones than SHORTEST_SECRET are no secrets."""

    def __init__(self, secrets: frozenset[str]) -> None:
        spellings = {
            spelling
            for secret in secrets
            if len(secret) >= SHORTEST_SECRET
            for spelling in (
                secret,
                quote(secret, safe=""),
                quote_plus(secret),
                json.dumps(secret)[1:-1],
                base64.b64encode(secret.encode()).decode(),
            )
        }
        # The longest first: one secret may begin another.
        ordered = sorted(spellings, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def text(self, text: str) -> str:
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def value(self, value: JsonValue) -> JsonValue:
        """Return the value without secrets, in keys too; a number that is one becomes text."""
        return value if self._pattern is None else self._value(value)

    def _value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self._value(held) for key, held in value.items()}
        if isinstance(value, list):
            return [self._value(held) for held in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return HIDDEN if self.text(str(value)) != str(value) else value
        return value
