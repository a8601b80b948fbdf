"""What a follow-up is judged by, and what the judgement says. Frozen and pure.

The judgement is one function in `workers.caching.followup`:

    judge(text, language, last: LastCall, view: EndpointView, *, answer="", now: datetime | None = None) -> FollowUp

`text` is the new message as it was typed, `language` the chat's language. `view` is the endpoint of `last` as it is
registered now. `answer` is what was said to the person after `last` ("" when unknown). The function does no I/O, asks
no model, never raises, and says `new_intent` whenever it is not sure. Who calls it turns the words of `changed` into
values by the endpoint's schema and validates them: the judgement only says which words mean which parameter.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.base import AwareDatetime, Frozen, JsonValue
from schemas.endpoints import Endpoint, Language, ParamSpec, Phrases, Texts

Verdict = Literal["response_question", "param_update", "new_intent"]


class EndpointView(Frozen):
    """What the judgement needs of an endpoint. `params` carry names, types, enum options, labels, descriptions."""

    endpoint_id: str
    version: int
    name: str
    description: str
    descriptions: Texts = {}
    titles: Texts = {}
    examples: Phrases = {}
    aliases: Phrases = {}
    params: tuple[ParamSpec, ...] = ()

    @classmethod
    def of(cls, endpoint: Endpoint) -> EndpointView:
        """Look at an endpoint through this window."""
        return cls.model_validate(endpoint.model_dump(include=set(cls.model_fields)))


class LastCall(Frozen):
    """A call this chat made: whose endpoint, with which arguments, and where its result is kept.

    `arguments` are normalised by the declared types, defaults filled in. `query` is the message that led to the call.
    `fields` are the names of the result's fields (at most 60, no values). `result` is the handle of the stored
    response; "" when the call failed or its response may not be kept, and then there is nothing to answer from.
    """

    endpoint_id: str
    version: int
    arguments: dict[str, JsonValue] = {}
    language: Language
    query: str
    finished_at: AwareDatetime
    fields: tuple[str, ...] = ()
    result: str = ""


class FollowUp(Frozen):
    """What a message is to the call before it.

    `changed` maps parameter names of the view to the words of the message that give the new value ("in Latvia" →
    {"countryIsoCode": "Latvia"}); `removed` are optional parameters that the person takes back; `swapped` are the two
    that change places ("and back?"). All are empty unless the verdict is `param_update`. `confidence` is 0…1: from 0.8
    on the verdict stands without a look at retrieval, from 0.6 on it stands unless retrieval is sure of another
    endpoint, from 0.5 on where retrieval finds none. `reason` names the rule, for logs and explain.
    """

    verdict: Verdict
    changed: dict[str, str] = {}
    removed: tuple[str, ...] = ()
    swapped: tuple[str, str] | None = None
    confidence: float = Field(default=0.0, ge=0.0, le=1.0)
    reason: str = ""
