"""The chat frontends' contract, served unchanged: requests, responses and SSE frames in camelCase."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from schemas.base import DoorModel, JsonValue
from schemas.turns import Environment, OnBusy


def _one_spelling(value: object) -> object:
    """Some frontends say `testing` where others say `test`."""
    return "test" if value == "testing" else value


AnyEnvironment = Annotated[Environment, BeforeValidator(_one_spelling)]


class HistoryItem(DoorModel):
    """One earlier message; all four roles of the frontends are accepted."""

    author_role: Literal["user", "bot", "end_user", "backoffice_user"] = "user"
    message: str = Field(max_length=50_000)
    timestamp: str = ""


class OrchestrateRequest(DoorModel):
    """Body of POST /orchestrate and /orchestrate/stream. Short answers ("5", "jah") are messages too.

    `seededParams` are values that the frontend knows already (a form, a profile), by parameter name: what fits fills a
    new collection, unless the message says otherwise; what does not fit is asked for as if it had not come.
    """

    chat_id: str = Field(min_length=1, max_length=200)
    message: str = Field(min_length=1, max_length=10_000)
    author_id: str = Field(default="", max_length=200)
    conversation_history: tuple[HistoryItem, ...] = Field(default=(), max_length=100)
    url: str = Field(default="", max_length=4_000)
    environment: AnyEnvironment = "production"
    connection_id: str | None = Field(default=None, alias="connection_id", max_length=200)
    on_busy: OnBusy = "enqueue"
    time_zone: str = Field(default="Europe/Tallinn", max_length=64)
    seeded_params: dict[str, JsonValue] = Field(default={}, max_length=50)


class TestRequest(DoorModel):
    """Body of POST /orchestrate/test: always a fresh chat of its own."""

    __test__ = False

    message: str = Field(min_length=1, max_length=10_000)
    environment: AnyEnvironment = "test"
    connection_id: str | None = Field(default=None, max_length=200)


class Button(DoorModel):
    """A choice offered beside the answer."""

    title: str
    payload: str


class OrchestrateResponse(DoorModel):
    """Answer of the blocking routes."""

    chat_id: str | None = None
    llm_service_active: bool = True
    question_out_of_llm_scope: bool = Field(default=False, alias="questionOutOfLLMScope")
    input_guard_failed: bool = False
    content: str
    buttons: tuple[Button, ...] | None = None
    turn_id: str


class FramePayload(DoorModel):
    """The part of a frame that is shown."""

    content: str
    buttons: tuple[Button, ...] | None = None


class Frame(DoorModel):
    """One SSE data frame; the last of a stream has the content END. `timestamp` is milliseconds since the epoch."""

    chat_id: str
    payload: FramePayload
    timestamp: str
    sent_to: tuple[str, ...] = ()


END = "END"
