"""Asks a worker what search finds, and why. No model here: a task goes out, its answer is waited for."""

from __future__ import annotations

from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from api_shim.door import door_of
from api_shim.reading import parse, read_body
from api_shim.tenancy import tenant_of
from schemas.searching import Question, SearchRequest
from tasks import names
from workers.errors import StoreUnavailable
from workers.registry.questions import Questions

_PATIENCE_S = 10.0


async def search_tools(request: Request) -> Response:
    """POST /rag-search/api-tools/search: what search finds for a text, best first."""
    return await _asked(request, "search")


async def explain(request: Request) -> Response:
    """POST /explain: candidates, scores, bands, and the rule that would route the text."""
    return await _asked(request, "explain")


async def _asked(request: Request, kind: Literal["search", "explain"]) -> Response:
    """Hand the question to a worker and return its answer as it is; 503 when nobody answers in time.

    A secret in it is taken out first, as from a message: neither Redis nor a log nor an embedding sees it.
    """
    scope = request.scope
    door = door_of(scope)
    body = await read_body(scope, request.receive, max_bytes=door.settings.shim.max_body_bytes)
    wanted = parse(SearchRequest, body)
    questions = Questions(door.redis, door.keys)
    question = Question(kind=kind, tenant=tenant_of(scope), query=door.clean(wanted.query), top_k=wanted.top_k)
    question_id = await questions.ask(question)
    await door.publisher.send(names.SEARCH, (question_id,))
    answer = await questions.wait(question_id, _PATIENCE_S)
    if answer is None:
        raise StoreUnavailable("no worker answered a question to search")
    return Response(answer, media_type="application/json")
