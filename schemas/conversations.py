"""What one chat remembers between turns: its language, its last words, and the collection that is open."""

from __future__ import annotations

from typing import Literal

from schemas.base import AwareDatetime, Frozen, JsonValue
from schemas.endpoints import Endpoint, Language, ParamSpec
from schemas.routing import Choice

Role = Literal["user", "bot"]
Mode = Literal["single", "parallel"]


class Utterance(Frozen):
    """One thing that was said."""

    role: Role
    text: str


class EndpointProgress(Frozen):
    """What is known so far for one endpoint. `reopened` names what its API did not accept: asked even if optional."""

    endpoint: Endpoint
    values: dict[str, JsonValue] = {}
    reopened: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Parameters to be asked for: required or reopened, and not known; in schema order."""
        wanted = {*self.reopened, *(param.name for param in self.endpoint.required)}
        return tuple(p.name for p in self.endpoint.params if p.name in wanted and p.name not in self.values)


class Given(Frozen):
    """What the person has given for one endpoint in this chat: values by name, and the parameters that they are for."""

    endpoint_id: str
    service_id: str = ""
    params: tuple[ParamSpec, ...] = ()
    values: dict[str, JsonValue] = {}


class Collecting(Frozen):
    """An open collection: the endpoints, what is known for each, and how long the asking has gone on.

    `turns` counts questions asked so far. `asked` are the parameters that the last question named, in its order.
    The answer names the parts of the message that no endpoint fits (`unmatched`), those put off (`later`), and the
    endpoints given up because their values never came (`lacking`, by title), and the values that were taken from
    earlier in the chat (`carried`, as they are shown). Several values for one endpoint are at most `most_at_once`
    calls; `put_off` are the endpoint's values for the rest, to be offered after the answer.
    """

    endpoints: tuple[EndpointProgress, ...]
    original_query: str
    turns: int = 0
    max_turns: int = 5
    continuation_turn: int = 3
    awaiting_continuation: bool = False
    asked: tuple[str, ...] = ()
    last_question: str = ""
    unmatched: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    most_at_once: int = 3
    put_off: tuple[EndpointProgress, ...] = ()

    @property
    def mode(self) -> Mode:
        """Parallel once there are two endpoints or more."""
        return "parallel" if len(self.endpoints) > 1 else "single"


class Conversation(Frozen):
    """The chat's record; absent means a new chat. `choices` are the buttons offered last (only these are accepted).

    `parked` are collections that a question about something else has interrupted, the latest last. `called_in` is the
    turn whose calls the cache should remember last: where it remembers another's, its word was lost, and counts for
    nothing. `given` are values of endpoints asked for before, the latest last.
    """

    language: Language | None = None
    collecting: Collecting | None = None
    transcript: tuple[Utterance, ...] = ()
    choices: tuple[Choice, ...] = ()
    parked: tuple[Collecting, ...] = ()
    called_in: str = ""
    given: tuple[Given, ...] = ()
    updated_at: AwareDatetime | None = None
