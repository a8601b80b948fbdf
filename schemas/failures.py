"""The wire form of an error."""

from __future__ import annotations

from enum import StrEnum

from schemas.base import DoorModel, Frozen


class FailureCode(StrEnum):
    """Why a turn or a request failed; each has a sentence `failure.<code>` in `messages/`."""

    INTERNAL = "internal"
    DEADLINE = "deadline"
    EXPIRED = "expired"
    BUSY = "busy"
    OVERLOADED = "overloaded"
    INVALID = "invalid"
    TOO_LARGE = "too_large"
    NOT_FOUND = "not_found"
    GONE = "gone"
    UNAVAILABLE = "unavailable"


class Failure(Frozen):
    """Why a turn ended without an answer. `error_id` is what the user may quote and what our logs carry."""

    code: FailureCode
    error_id: str


class FieldError(DoorModel):
    """One fault of a request: where (dotted path) and what."""

    path: str
    message: str


class ErrorBody(DoorModel):
    """The JSON body of an HTTP error (keys stay snake_case, as the frontends read them)."""

    error: str
    error_id: str
    type: str
    fields: tuple[FieldError, ...] | None = None
