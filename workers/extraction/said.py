"""What a message said for one parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schemas.base import JsonValue

Fault = Literal["impossible", "not_option", "before_start"]


@dataclass(frozen=True, kw_only=True)
class Said:
    """A value and where the person's words for it stand."""

    value: JsonValue
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """Words with two readings; the person is asked which was meant. `until` are the ends where those are periods."""

    options: tuple[JsonValue, ...]
    start: int
    end: int
    until: tuple[JsonValue, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Words that cannot be the value; they take back what was known before."""

    fault: Fault
    words: str
    start: int
    end: int


Found = dict[str, Said | Doubt | Refused]
