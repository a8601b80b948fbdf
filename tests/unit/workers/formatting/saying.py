"""Builds calls and says their answers, for the tests of this room."""

from __future__ import annotations

from typing import Any

from schemas.calls import ApiCall, CallFailed, CallSucceeded, FailureReason
from schemas.endpoints import Endpoint, Language, Rendering
from workers.formatting.formatter import answer

NBSP = "\u00a0"


def a_call(arguments: dict[str, Any] | None = None, **endpoint: Any) -> ApiCall:
    fields = {"endpoint_id": "e", "name": "get_things", "description": "Things.", "url": "https://api.example/things"}
    return ApiCall(call_id="c1", index=0, endpoint=Endpoint(**(fields | endpoint)), arguments=arguments or {})


def titled(**more: Any) -> ApiCall:
    return a_call(titles={"en": "vehicle tax", "et": "automaks", "ru": "налог на автомобиль"}, **more)


def brought(body: Any) -> CallSucceeded:
    return CallSucceeded(call_id="c1", status=200, body=body)


def failed(reason: FailureReason, *, body: Any = None, status: int = 0) -> CallFailed:
    return CallFailed(call_id="c1", reason=reason, status=status, body=body)


def say(body: Any, language: Language = "en", *, call: ApiCall | None = None, query: str = "") -> str:
    return answer(query, [(call or titled(), brought(body))], language=language)


def templated(template: str, body: Any, language: Language = "en", **arguments: Any) -> str:
    call = titled(arguments=arguments, rendering=Rendering(answer={language: template}))
    return say(body, language, call=call)
