"""The same rooms in one starlette process: the peer without queues, stores or second chances."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from tests.bench.instant import in_one_process


async def orchestrate(request: Request) -> StreamingResponse:
    body = await request.json()

    async def frames() -> AsyncIterator[str]:
        for piece in in_one_process(body["message"]):
            yield f"data: {json.dumps({'chatId': body['chatId'], 'payload': {'content': piece}})}\n\n"
        yield f"data: {json.dumps({'chatId': body['chatId'], 'payload': {'content': 'END'}})}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")


app = Starlette(routes=[Route("/orchestrate/stream", orchestrate, methods=["POST"])])
