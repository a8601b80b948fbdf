"""What a task's coroutine came to, kept until Celery's tracer asks for it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Returned:
    """The coroutine returned this value."""

    value: object


@dataclass(frozen=True)
class Raised:
    """The coroutine ended with this error; Celery's Reject and Ignore are such errors too."""

    error: BaseException


Outcome = Returned | Raised

settled: ContextVar[Outcome | None] = ContextVar("settled", default=None)


def unwrap(outcome: Outcome) -> object:
    """Return the value, or raise the error."""
    match outcome:
        case Returned(value=value):
            return value
        case Raised(error=error):
            raise error
