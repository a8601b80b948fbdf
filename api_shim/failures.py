"""What a failed request is told: one table from exception to status, code and sentence.

The body is JSON, or on a stream one frame with the sentence and then END (a client that waits for END must get it).
Internals never leave the process; the error id stands in the body and in our log.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from starlette.exceptions import HTTPException

from schemas.endpoints import Language
from schemas.failures import ErrorBody, FailureCode, FieldError
from workers.errors import EndpointUnknown, IndexRefused, StoreUnavailable, UnknownTurn
from workers.messages.catalog import text


class RefusedAtTheDoor(Exception):
    """Base of what we say no to before a turn exists."""


class InvalidRequest(RefusedAtTheDoor):
    """The request can't be read; `fields` says where."""

    def __init__(self, fields: Sequence[FieldError]) -> None:
        super().__init__(", ".join(field.path for field in fields))
        self.fields = tuple(fields)


class BodyTooLarge(RefusedAtTheDoor):
    """The body exceeds the limit."""


class BodyTooSlow(RefusedAtTheDoor):
    """The body did not arrive in time."""


class TooManyQueued(RefusedAtTheDoor):
    """The queues are deeper than we can serve in time."""


class ChatIsBusy(RefusedAtTheDoor):
    """The chat's turn still runs, and the client asked not to queue behind it."""


class ChatIsFull(RefusedAtTheDoor):
    """So many turns of this chat are queued that another one would wait too long."""


class NoSuchThing(RefusedAtTheDoor):
    """Nothing of that name was ever here."""


class TurnIsGone(RefusedAtTheDoor):
    """The turn's keeping time is over; it can't be resumed and is never run again."""


class ClientLeft(RefusedAtTheDoor):
    """The client closed the connection before it had sent its request; nobody reads an answer."""


class DoorIsLeaving(RefusedAtTheDoor):
    """This process was told to stop; another one answers."""


class LateTurn(RefusedAtTheDoor):
    """A turn is long past its deadline and nobody ended it."""


@dataclass(frozen=True)
class Told:
    """How a failure is told. `asks_to_retry` adds Retry-After."""

    status: int
    code: FailureCode
    asks_to_retry: bool = False


_TABLE: tuple[tuple[type[Exception], Told], ...] = (
    (InvalidRequest, Told(422, FailureCode.INVALID)),
    (BodyTooLarge, Told(413, FailureCode.TOO_LARGE)),
    (BodyTooSlow, Told(408, FailureCode.DEADLINE)),
    (TooManyQueued, Told(429, FailureCode.OVERLOADED, asks_to_retry=True)),
    (ChatIsFull, Told(429, FailureCode.BUSY, asks_to_retry=True)),
    (ChatIsBusy, Told(409, FailureCode.BUSY)),
    (NoSuchThing, Told(404, FailureCode.NOT_FOUND)),
    (EndpointUnknown, Told(404, FailureCode.NOT_FOUND)),
    (TurnIsGone, Told(410, FailureCode.GONE)),
    (UnknownTurn, Told(410, FailureCode.GONE)),
    (IndexRefused, Told(409, FailureCode.INVALID)),
    (ClientLeft, Told(400, FailureCode.INVALID)),
    (DoorIsLeaving, Told(503, FailureCode.UNAVAILABLE, asks_to_retry=True)),
    (LateTurn, Told(504, FailureCode.DEADLINE)),
    (StoreUnavailable, Told(503, FailureCode.UNAVAILABLE, asks_to_retry=True)),
)
_BUG = Told(500, FailureCode.INTERNAL)
_BY_STATUS = {404: FailureCode.NOT_FOUND}


def told(error: Exception) -> Told:
    """Look the exception up; what is not in the table is a bug of ours."""
    if isinstance(error, HTTPException):
        return Told(error.status_code, _BY_STATUS.get(error.status_code, FailureCode.INVALID))
    return next((how for kind, how in _TABLE if isinstance(error, kind)), _BUG)


def new_error_id(now: datetime) -> str:
    """Mint an id that a person can read out: ERR-YYYYMMDD-HHMMSS-XXXX (four hexadecimal digits)."""
    return f"ERR-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2).upper()}"


def sentence(code: FailureCode, language: Language, *, error_id: str) -> str:
    """Say what went wrong, to a person."""
    return text(f"failure.{code}", language, error_id=error_id)


def error_body(error: Exception, *, error_id: str, language: Language) -> ErrorBody:
    """Build the body that goes with `told(error)`."""
    code = told(error).code
    fields = error.fields if isinstance(error, InvalidRequest) else _refused_fields(error)
    return ErrorBody(error=sentence(code, language, error_id=error_id), error_id=error_id, type=code, fields=fields)


def _refused_fields(error: Exception) -> tuple[FieldError, ...] | None:
    if isinstance(error, IndexRefused):
        return (FieldError(path="endpointId", message=error.reason),)
    return None


def body_as_json(body: ErrorBody) -> dict[str, object]:
    """Give the wire form: snake_case keys, `fields` only where there are some."""
    return body.model_dump(mode="json", by_alias=False, exclude_none=True)
