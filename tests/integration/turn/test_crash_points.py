"""A process dies before or after any Redis command of a turn: the turn still ends once, with one whole answer.

The stages run in this process against a real Redis; "dying" is an exception from the client at the n-th command, after
which new stages take over as a restarted worker would: leases run out, the sweep asks again.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis.asyncio as aioredis

from schemas.calls import ApiCall, CallOutcome, CallSucceeded
from schemas.commands import Command, Stage
from schemas.conversations import Conversation
from schemas.endpoints import Endpoint, ParamSpec
from schemas.events import TERMINAL_TYPES, AnswerCompleted, TokenDelta
from schemas.ids import chat_key, new_turn_id
from schemas.routing import Decision, Layer
from schemas.turns import TurnRequest
from tests.integration.carrying import carry_out
from workers.caching.cache import ResponseCache
from workers.caching.followup import judge
from workers.calling.outcomes import ClaimState, OutcomeStore
from workers.errors import StaleTurn
from workers.eventlog.log import EventLog
from workers.registry.store import RegistryStore
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.settings import CacheSettings, TurnSettings
from workers.sessions.turns import TurnStore
from workers.sessions.user_tokens import UserTokens
from workers.turn.answering import Answering
from workers.turn.cached import CachedCalls
from workers.turn.endings import Endings
from workers.turn.following import Way
from workers.turn.rest import Rest
from workers.turn.speech import Speaker
from workers.turn.steps import Steps

SETTINGS = TurnSettings(rest_before_sweep_s=0.0001, lease_s=0.03)


class ProcessDied(BaseException):
    """Nobody may catch this: a killed process runs no handler that matters."""


class Guillotine:
    """Lets the client's n-th command be its last: before it is sent, or right after it was carried out."""

    def __init__(self, client: aioredis.Redis) -> None:
        self._client = client
        self._send = client.execute_command
        self.seen = 0

    def fall(self, *, at: int, after: bool) -> None:
        self.seen = 0

        async def execute(*args: Any, **kwargs: Any) -> Any:
            self.seen += 1
            if self.seen > at > 0 or (self.seen == at and not after):
                raise ProcessDied  # the dead send nothing more
            reply = await self._send(*args, **kwargs)
            if self.seen == at:
                raise ProcessDied
            return reply

        self._client.execute_command = execute  # type: ignore[method-assign]

    def lift(self) -> None:
        self._client.execute_command = self._send  # type: ignore[method-assign]


class OneEndpoint:
    """A classifier that always finds the endpoints it was given."""

    def __init__(self, *endpoints: Endpoint) -> None:
        self._endpoints = endpoints

    async def held_back(self, *_: object) -> None: ...

    async def decide(self, _: TurnRequest, __: Conversation | None, *, now: datetime) -> Decision:
        assert now.tzinfo
        return Decision(layer=Layer.SERVICE, language="en", rule="test", endpoints=self._endpoints)


class CountingCaller:
    """Calls like the real one: claim, call, record. `calls` counts what reached the API."""

    def __init__(self, outcomes: OutcomeStore, calls: list[str]) -> None:
        self._outcomes = outcomes
        self._calls = calls

    async def call(self, call: ApiCall, *, turn_id: str, deadline: datetime, **_: object) -> CallOutcome:
        assert deadline > utc_now()
        claim = await self._outcomes.claim(turn_id, call.call_id, 0.03)
        if claim.outcome is not None:
            return claim.outcome
        if claim.state is ClaimState.MINE:
            self._calls.append(call.call_id)
        return await self._outcomes.record(turn_id, CallSucceeded(call_id=call.call_id, status=200, body={"price": 5}))


def an_endpoint(name: str) -> Endpoint:
    return Endpoint(
        endpoint_id=name,
        name=name,
        description=f"Tells the {name}.",
        titles={"en": name.replace("_", " ")},
        url=f"https://example.org/{name}",
        params=(ParamSpec(name="ticket", required=True, description="ticket code"),),
    )


def a_request(message: str) -> TurnRequest:
    now = datetime.now(UTC)
    return TurnRequest(
        turn_id=new_turn_id(chat_key("default", message)),
        tenant="default",
        chat_id=message,
        message=message,
        accepted_at=now,
        deadline_at=now + timedelta(seconds=60),
    )


class World:
    """What one process would hold, and the messages that wait for it."""

    def __init__(self, client: aioredis.Redis, endpoints: tuple[Endpoint, ...]) -> None:
        self.turns = TurnStore(client, Keys(), SETTINGS)
        self.log = EventLog(client, Keys())
        self.calls: list[str] = []
        outcomes = OutcomeStore(client, Keys())
        cache = ResponseCache.open(client, Keys(), CacheSettings(cache_timeout_s=5), utc_now)
        registry = RegistryStore(client, Keys())
        classifier: Any = OneEndpoint(*endpoints)
        calls = CachedCalls(
            caller=CountingCaller(outcomes, self.calls),  # type: ignore[arg-type]
            outcomes=outcomes,
            cache=cache,
            user_tokens=UserTokens(client, Keys(), key=None),
        )
        endings = Endings(turns=self.turns, speaker=Speaker(self.turns, SETTINGS, utc_now), clock=utc_now)
        self.steps = Steps(
            turns=self.turns,
            classifier=classifier,
            way=Way(classifier=classifier, cache=cache, registry=registry, judge=judge, clock=utc_now, high_cosine=0.6),
            calls=calls,
            answering=Answering(turns=self.turns, calls=calls, endings=endings, clock=utc_now),
            endings=endings,
            clock=utc_now,
            batch_timeout=timedelta(seconds=30),
        )
        self.rest = Rest(self.turns, endings, utc_now, batch_timeout_s=30, lease_s=SETTINGS.lease_s)

    async def carry_out(self, command: Command | None) -> None:
        """Do what the queues do with a command, and with those that follow from it."""
        while command is not None:
            try:
                command = await carry_out(self.steps, command)
            except StaleTurn:
                return


def start(turn_id: str) -> Command:
    return Command(stage=Stage.CLASSIFICATION, turn_id=turn_id)


async def commands_of_a_turn(client: aioredis.Redis, endpoints: tuple[Endpoint, ...]) -> int:
    """Count the Redis commands of an undisturbed turn."""
    world, request, guillotine = World(client, endpoints), a_request("ticket T17"), Guillotine(client)
    await world.turns.admit(request, on_busy="enqueue")
    guillotine.fall(at=-1, after=False)
    await world.carry_out(start(request.turn_id))
    guillotine.lift()
    assert len(world.calls) == len(endpoints)
    return guillotine.seen


@pytest.mark.parametrize("endpoints", [("ticket_price",), ("ticket_price", "ticket_seat")], ids=["one call", "fan-out"])
async def test_a_turn_ends_once_wherever_its_process_dies(
    clean_redis: aioredis.Redis, endpoints: tuple[str, ...]
) -> None:
    specs = tuple(an_endpoint(name) for name in endpoints)
    await commands_of_a_turn(clean_redis, specs)  # loads the scripts, which would be counted too
    await clean_redis.flushall()
    total = await commands_of_a_turn(clean_redis, specs)
    assert total >= 8
    for at in range(1, total + 1):
        for after in (False, True):
            await clean_redis.flushall()
            await _die_and_recover(clean_redis, specs, at=at, after=after)


async def _die_and_recover(client: aioredis.Redis, specs: tuple[Endpoint, ...], *, at: int, after: bool) -> None:
    where = f"{'after' if after else 'before'} command {at}"
    first, request, guillotine = World(client, specs), a_request("ticket T17"), Guillotine(client)
    await first.turns.admit(request, on_busy="enqueue")
    guillotine.fall(at=at, after=after)
    with pytest.raises(ProcessDied):
        await first.carry_out(start(request.turn_id))
    guillotine.lift()

    second = World(client, specs)
    await _sweep_until_over(second, request.turn_id, where)

    events = [event for _, event in await second.log.read(request.turn_id)]
    ends = [event for event in events if event.type in TERMINAL_TYPES]
    assert len(ends) == 1, f"{where}: {len(ends)} ends"
    end = ends[0]
    assert isinstance(end, AnswerCompleted), where
    spoken = [e.text for e in events if isinstance(e, TokenDelta) and e.attempt == end.attempt]
    assert "".join(spoken) == end.text, where
    assert "5" in end.text, where


async def _sweep_until_over(world: World, turn_id: str, where: str) -> None:
    import asyncio

    for _ in range(20):
        await asyncio.sleep(0.02)
        for command in await world.rest.sweep({}):
            await world.carry_out(command)
        turn = await world.turns.load(turn_id)
        if turn is not None and not turn.phase.is_moving:
            return
        if turn is not None:  # the sweep waits a while before it asks again; a test need not
            await world.turns.touch(turn_id, at_s=0)
    pytest.fail(f"{where}: the turn never ended")


async def test_a_turn_delivered_three_times_at_once_ends_once(clean_redis: aioredis.Redis) -> None:
    import asyncio

    world, request = World(clean_redis, (an_endpoint("ticket_price"),)), a_request("ticket T17")
    await world.turns.admit(request, on_busy="enqueue")

    await asyncio.gather(*(world.carry_out(start(request.turn_id)) for _ in range(3)))

    events = [event for _, event in await world.log.read(request.turn_id)]
    assert [event.type for event in events].count("completed") == 1
    assert len(world.calls) == 1


async def test_a_message_that_comes_after_the_end_starts_the_chats_next_turn(clean_redis: aioredis.Redis) -> None:
    world = World(clean_redis, (an_endpoint("ticket_price"),))
    first, second = a_request("ticket T17"), a_request("ticket T17")
    await world.turns.admit(first, on_busy="enqueue")
    await world.turns.admit(second, on_busy="enqueue")

    following = await world.steps.format(await _finished(world, first.turn_id))

    assert following == start(second.turn_id)


async def _finished(world: World, turn_id: str) -> str:
    command: Command | None = start(turn_id)
    while command is not None and command.turn_id == turn_id:
        command = await carry_out(world.steps, command)
    return turn_id


async def test_a_turn_past_its_deadline_is_ended_by_the_sweep(clean_redis: aioredis.Redis) -> None:
    world = World(clean_redis, (an_endpoint("ticket_price"),))
    request = a_request("ticket T17").model_copy(update={"deadline_at": datetime.now(UTC) - timedelta(seconds=1)})
    await world.turns.admit(request, on_busy="enqueue")
    await _sweep_until_over(world, request.turn_id, "past the deadline")

    events = [event for _, event in await world.log.read(request.turn_id)]
    assert events[-1].type == "failed"
    assert "too long" in events[-1].text


async def test_a_message_that_waits_in_a_deep_queue_is_not_sent_again(clean_redis: aioredis.Redis) -> None:
    import asyncio

    world, request = World(clean_redis, (an_endpoint("ticket_price"),)), a_request("ticket T17")
    await world.turns.admit(request, on_busy="enqueue")
    await asyncio.sleep(0.01)

    assert await world.rest.sweep({"classification": 12}) == []
    assert await world.rest.sweep({"classification": 0}) == [start(request.turn_id)]
    assert await world.rest.sweep({"classification": 0}) == [], "asked again at once"
