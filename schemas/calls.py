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


class Cached(Frozen):
    """Where an answer came from without a call: L1 is the same call made lately, L2 what this chat was told last.

    `age_s` is how long ago its API gave it.
    """

    source: Literal["L1", "L2"]
    age_s: float = 0.0


class CallSucceeded(Frozen):
    """A 2xx answer that tells of no error.

    `body` is parsed JSON, or the text when it was not JSON; None for an empty body.
    `fresh_for_s` is what the API allows caches (0: not at all; None: it says nothing), `stale_for_s` how much longer an
    answer may be told while a new one is fetched.
    """

    kind: Literal["succeeded"] = "succeeded"
    call_id: str
    status: int
    body: JsonValue = None
    elapsed_ms: float = 0.0
    fresh_for_s: float | None = None
    stale_for_s: float = 0.0
    cached: Cached | None = None


class CallFailed(Frozen):
    """Anything else. `status` is 0 when no response came.

    `body` is kept of refusals only (4xx, or a 2xx that tells of an error), to reopen the right slot.
    """

    kind: Literal["failed"] = "failed"
    call_id: str
    reason: FailureReason
    status: int = 0
    body: JsonValue = None
    retry_after_s: float | None = None
    elapsed_ms: float = 0.0


CallOutcome = Annotated[CallSucceeded | CallFailed, Field(discriminator="kind")]
