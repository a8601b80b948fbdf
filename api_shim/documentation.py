"""OpenAPI, generated from the models that read and write the wire: what is documented is what is served."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse

from api_shim.api_tools import ToolDetail, ToolPage, ToolState
from api_shim.health import Readiness
from api_shim.reading import EVENT_STREAM, USER_TOKEN
from api_shim.turns import TurnState, TurnStopped
from schemas.failures import ErrorBody
from schemas.orchestrate import Frame, OrchestrateRequest, OrchestrateResponse, TestRequest
from schemas.registration import EndpointRegistration
from schemas.searching import Explanation, SearchRequest, SearchResults

_REF = "#/components/schemas/{model}"
_SENT_BACK = {
    404: "Nothing of that name",
    408: "The body did not arrive in time",
    409: "The chat is busy",
    410: "The turn is no longer kept",
    413: "The body is too large",
    422: "The request can't be read; `fields` says where",
    429: "Too much is queued; see Retry-After",
    503: "A part does not answer; see Retry-After",
}


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One documented route. `query` maps a parameter's name to what it does."""

    path: str
    method: str
    summary: str
    tag: str
    answer: type[BaseModel] | None = None
    status: int = 200
    body: type[BaseModel] | None = None
    is_stream: bool = False
    query: tuple[tuple[str, str], ...] = ()
    takes_user_token: bool = False
    errors: tuple[int, ...] = ()


_ASKING = (408, 409, 413, 422, 429, 503)
_RICH = ("events", "rich adds the named events phase, question, replace, meta, error, tool_call, tool_result")
_META = ("meta", "true adds how the turn ended and what answered it")
_USER_TOKEN = {
    "name": USER_TOKEN,
    "in": "header",
    "required": False,
    "description": "the person's own token, for the APIs that take it; sealed until the call, and kept nowhere",
    "schema": {"type": "string"},
}
_WAIT = ("wait", "true waits until every worker finds the endpoint")

OPERATIONS = (
    Operation(
        path="/orchestrate", method="post", tag="Conversation", summary="Say something and wait for the answer",
        body=OrchestrateRequest, answer=OrchestrateResponse, query=(_META,), takes_user_token=True, errors=_ASKING,
    ),
    Operation(
        path="/orchestrate/stream", method="post", tag="Conversation",
        summary="Say something and read the answer as it is made; the last frame's content is END",
        body=OrchestrateRequest, answer=Frame, is_stream=True, query=(_RICH,), takes_user_token=True, errors=_ASKING,
    ),
    Operation(
        path="/orchestrate/test", method="post", tag="Conversation", summary="Ask in a fresh chat of its own",
        body=TestRequest, answer=OrchestrateResponse, query=(_META,), takes_user_token=True, errors=_ASKING,
    ),
    Operation(
        path="/turns/{turn_id}", method="get", tag="Turns", summary="Where a turn stands",
        answer=TurnState, errors=(404, 410, 503),
    ),
    Operation(
        path="/turns/{turn_id}", method="delete", tag="Turns",
        summary="Stop a turn (202), or learn that it was over already (200)",
        answer=TurnStopped, status=202, errors=(404, 410, 503),
    ),
    Operation(
        path="/turns/{turn_id}/events", method="get", tag="Turns",
        summary="A turn's frames after Last-Event-ID, then as they happen",
        answer=Frame, is_stream=True, query=(("last_event_id", "where to go on, as the header says it"), _RICH),
        errors=(404, 410, 422, 503),
    ),
    *(
        Operation(
            path=path, method="post", tag="Endpoints", summary="Register an endpoint and have it indexed",
            body=EndpointRegistration, answer=ToolState, status=202, query=(_WAIT,), errors=(408, 409, 413, 422, 503),
        )
        for path in ("/api-tools", "/rag-search/api-tools/index")
    ),
    Operation(
        path="/api-tools", method="get", tag="Endpoints", summary="List the registered endpoints",
        answer=ToolPage, query=(("offset", "how many to skip"), ("limit", "how many at most")), errors=(422, 503),
    ),
    Operation(
        path="/api-tools/{endpoint_id}", method="get", tag="Endpoints", summary="One endpoint, whole",
        answer=ToolDetail, errors=(404, 503),
    ),
    Operation(
        path="/api-tools/{endpoint_id}", method="delete", tag="Endpoints", summary="Remove an endpoint",
        status=204, errors=(404, 503),
    ),
    Operation(
        path="/rag-search/api-tools/search", method="post", tag="Endpoints", summary="What search finds for a text",
        body=SearchRequest, answer=SearchResults, errors=(408, 413, 422, 503),
    ),
    Operation(
        path="/explain", method="post", tag="Endpoints",
        summary="Why a text is routed as it is: candidates, scores, bands, the rule that fired, the cost",
        body=SearchRequest, answer=Explanation, errors=(408, 413, 422, 503),
    ),
    Operation(path="/healthz", method="get", tag="Operation", summary="The process answers"),
    Operation(
        path="/readyz", method="get", tag="Operation", summary="Whether a turn could be answered, and what is missing",
        answer=Readiness,
    ),
    Operation(path="/metrics", method="get", tag="Operation", summary="Meters in Prometheus' text form"),
)  # fmt: skip


async def openapi(_request: Request) -> JSONResponse:
    """GET /openapi.json."""
    return JSONResponse(document())


@cache
def document() -> dict[str, Any]:
    """Build the OpenAPI 3.1 document."""
    read = {one.body for one in OPERATIONS if one.body}
    written = {one.answer for one in OPERATIONS if one.answer} | {ErrorBody}
    _, definitions = models_json_schema(
        [(model, "validation") for model in sorted(read, key=_name)]
        + [(model, "serialization") for model in sorted(written, key=_name)],
        ref_template=_REF,
    )
    # The wire form of an error keeps snake_case.
    definitions["$defs"]["ErrorBody"] = _error_schema()
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _describe(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Signalbox", "version": _version()},
        "paths": paths,
        "components": {"schemas": definitions["$defs"]},
    }


def _version() -> str:
    try:
        return metadata.version("signalbox")
    except metadata.PackageNotFoundError:  # run from a checkout that is not installed
        return "0"


def _name(model: type[BaseModel]) -> str:
    return model.__name__


def _error_schema() -> dict[str, Any]:
    schema = ErrorBody.model_json_schema(mode="serialization", by_alias=False, ref_template=_REF)
    schema.pop("$defs", None)
    return schema


def _describe(operation: Operation) -> dict[str, Any]:
    content_type = EVENT_STREAM if operation.is_stream else "application/json"
    responses = {str(operation.status): _answer("As asked", operation.answer, content_type)}
    responses |= {str(status): _answer(_SENT_BACK[status], ErrorBody) for status in operation.errors}
    described: dict[str, Any] = {
        "summary": operation.summary,
        "operationId": _operation_id(operation),
        "tags": [operation.tag],
        "parameters": _parameters(operation),
        "responses": responses,
    }
    if operation.body is not None:
        described["requestBody"] = {"required": True, "content": _content(operation.body, "application/json")}
    return described


def _operation_id(operation: Operation) -> str:
    return f"{operation.method}_{operation.path.strip('/')}".translate(str.maketrans("/-{}", "____")).replace("__", "_")


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    inside = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    in_path = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in inside]
    in_query = [
        {"name": name, "in": "query", "required": False, "description": what, "schema": {"type": "string"}}
        for name, what in operation.query
    ]
    in_header = [_USER_TOKEN] if operation.takes_user_token else []
    return [*in_path, *in_query, *in_header]


def _answer(what: str, model: type[BaseModel] | None, content_type: str = "application/json") -> dict[str, Any]:
    return {"description": what} | ({"content": _content(model, content_type)} if model else {})


def _content(model: type[BaseModel], content_type: str) -> dict[str, Any]:
    return {content_type: {"schema": {"$ref": _REF.format(model=model.__name__)}}}
