"""An API call that will be made, and the outcome it ended with. An outcome is a value, never an exception."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Frozen, JsonValue
from schemas.endpoints import Endpoint


class ApiCall(Frozen):
    """One planned call. `call_id` is derived from the turn, so that a redelivered task means the same call."""

    call_id: str
    index: int
    endpoint: Endpoint
    arguments: dict[str, JsonValue] = {}


class FailureReason(StrEnum):
    """Why a call did not succeed; each has a sentence `call.<reason>` in `messages/`."""

    CLIENT_ERROR = "client_error"
    SERVER_ERROR = "server_error"
    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    REDIRECTED = "redirected"
    BREAKER_OPEN = "breaker_open"
    RATE_LIMITED = "rate_limited"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    AUTH_MISSING = "auth_missing"
    UNKNOWN = "unknown"


class CallSucceeded(Frozen):
    """A 2xx answer. `body` is parsed JSON, or the text when it was not JSON; None for an empty body."""

    kind: Literal["succeeded"] = "succeeded"
    call_id: str
    status: int
    body: JsonValue = None
    elapsed_ms: float = 0.0


class CallFailed(Frozen):
    """Anything else. `status` is 0 when no response came; `body` is kept for 4xx only, to reopen the right slot."""

    kind: Literal["failed"] = "failed"
    call_id: str
    reason: FailureReason
    status: int = 0
    body: JsonValue = None
    retry_after_s: float | None = None
    elapsed_ms: float = 0.0


CallOutcome = Annotated[CallSucceeded | CallFailed, Field(discriminator="kind")]
