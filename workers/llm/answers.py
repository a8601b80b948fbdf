"""What a request to a model ends with: an answer, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schemas.usage import Ending

# The usual rule of thumb for a text whose tokens nobody counted.
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """Tokens of one request. `is_estimated`: the server did not count, so they were reckoned from the text."""

    prompt: int = 0
    completion: int = 0
    is_estimated: bool = False


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A readable answer: each output field with a value of its type."""

    values: dict[str, Any]
    tokens: Tokens


class UnansweredError(Exception):
    """One request that brought nothing usable. `retry_after_s` is the server's wish, if it had one."""

    def __init__(self, ending: Ending, *, retry_after_s: float | None = None, tokens: Tokens | None = None) -> None:
        super().__init__(ending)
        self.ending: Ending = ending
        self.retry_after_s = retry_after_s
        self.tokens = tokens or Tokens()


def estimated_tokens(sent: str, received: str) -> Tokens:
    """Reckon tokens from the text, for servers that do not count them."""
    return Tokens(
        prompt=len(sent) // _CHARS_PER_TOKEN, completion=len(received) // _CHARS_PER_TOKEN, is_estimated=bool(sent)
    )
