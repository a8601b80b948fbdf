"""Tasks of a test worker: the product's wire names, with bodies that only leave marks in Redis."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import Any

from schemas.commands import Command, Stage
from tasks import names
from tasks.app import app
from tasks.base import StageTask
from tasks.current import current_request
from tasks.dispatch import dispatch
from tasks.process import furnish, process
from workers.errors import EndpointUnknown, StaleTurn, StoreUnavailable
from workers.runtime.settings import Settings


async def mark(name: str, value: object = "") -> None:
    await process().redis.rpush(f"mark:{name}", str(value))


class House:
    """No rooms: it only writes down which turns were failed."""

    async def open(self, settings: Settings) -> None:
        del settings

    async def close(self) -> None:
        await mark("closed")

    async def fail_turn(self, turn_id: str, error_id: str) -> Command | None:
        await mark("failed", f"{turn_id} {error_id}")
        return Command(stage=Stage.CLASSIFICATION, turn_id=turn_id)


furnish(House())


@app.task(name="test.sleep", base=StageTask)
async def sleep(name: str, seconds: float) -> None:
    await mark(f"{name}:started", time.time())
    await asyncio.sleep(seconds)
    await mark(f"{name}:ended", time.time())


@app.task(name="test.raise", base=StageTask)
async def fail(turn_id: str, kind: str) -> None:
    await mark(f"tried:{kind}")
    raise {
        "permanent": EndpointUnknown(turn_id),
        "stale": StaleTurn(turn_id),
        "bug": ZeroDivisionError("a bug"),
        "passing": StoreUnavailable("away"),
    }[kind]


@app.task(name="test.suicide", base=StageTask)
async def suicide(turn_id: str) -> None:
    del turn_id
    await mark("suicide")
    os.kill(os.getpid(), signal.SIGKILL)


class Proven(StageTask):
    """Knows from its mark whether it was done."""

    abstract = True

    async def is_done(self, *args: Any) -> bool:
        return bool(await process().redis.exists(f"mark:{args[0]}"))


@app.task(name="test.done_and_dead", base=Proven)
async def die_when_done(name: str) -> None:
    """Do the work, and die before anybody hears of it."""
    await mark(name)
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(name=names.INDEX, base=StageTask)
async def index(endpoint_id: str) -> None:
    """Fails twice, then succeeds: the retry table of its queue allows it. Some are too slow, once or always."""
    tries: Any = await process().redis.incr(f"tries:{endpoint_id}")
    if endpoint_id == "always slow" or (endpoint_id == "slow once" and tries == 1):
        await asyncio.sleep(60)
    if tries < 3:
        raise StoreUnavailable("away")
    await mark("indexed", endpoint_id)


@app.task(name="test.request", base=StageTask, bind=True)
async def request(self: Any, name: str) -> None:
    """Look at the own request before and after others have run."""
    before = self.request.id
    await asyncio.sleep(0.05)
    assert self.request.id == before
    assert current_request.get() is not None
    await mark(f"request:{name}", before)


@app.task(name=names.CLASSIFY, base=StageTask)
async def classify(turn_id: str) -> None:
    await mark("classified", turn_id)


@app.task(name=names.EXTRACT, base=StageTask)
async def extract(turn_id: str) -> None:
    """Fan out into three calls."""
    await dispatch(Command(stage=Stage.CALLING, turn_id=turn_id, fan_out=3))


@app.task(name=names.CALL_PART, base=StageTask)
async def call_part(turn_id: str, index: int) -> None:
    """The part whose number the test chose fails; the others take a little while."""
    chosen = await process().redis.get(f"broken:{turn_id}")
    if chosen == str(index):
        raise ZeroDivisionError("a part with a bug")
    await asyncio.sleep(0.2)
    await mark(f"part:{turn_id}", index)


@app.task(name=names.FORMAT, base=StageTask)
async def format_answer(turn_id: str) -> None:
    await mark(f"formatted:{turn_id}", await process().redis.llen(f"mark:part:{turn_id}"))


@app.task(name="test.plain")
def plain(name: str) -> None:
    """An ordinary Celery task, which runs in a thread."""
    process().runner.call(mark(name), timeout_s=5)


@app.task(name="test.plain_part", ignore_result=False)
def plain_part() -> None:
    raise ZeroDivisionError("a header that Celery itself sees fail")


@app.task(name="test.raw_chord", base=StageTask)
async def raw_chord(turn_id: str) -> None:
    """A chord as dispatch builds it, but with a part that fails in Celery's eyes."""
    from celery import chord

    body = app.signature(names.FORMAT, args=(turn_id,), immutable=True, queue="formatting")
    body.on_error(body.clone())
    header = [
        app.signature(names.CALL_PART, args=(turn_id, 0), immutable=True, queue="calling", ignore_result=False),
        app.signature("test.plain_part", immutable=True, queue="calling", ignore_result=False),
    ]
    await asyncio.get_running_loop().run_in_executor(
        None, lambda: chord(header, body, app=app).apply_async(add_to_parent=False)
    )
