"""The face of this room: asks a typed question on a turn's behalf, and gives up in time for the rules to decide.

A request is retried on 429 and 5xx while the turn's deadline allows, then the second model is asked, then ModelFailed
is raised. Every request is entered in the ledger, whatever became of it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from schemas.usage import ModelUse
from workers.errors import ModelFailed, StoreUnavailable
from workers.llm.answers import Answer, Tokens, UnansweredError
from workers.llm.backend import Backend
from workers.llm.fallbacks import left_to_rules
from workers.llm.ledger import UsageLedger
from workers.llm.prices import PriceList
from workers.llm.programs import compiled, judgement_of, load_program
from workers.llm.scope import Scope, current_scope
from workers.runtime.clock import utc_now
from workers.runtime.resting import Resting
from workers.runtime.settings import LlmSettings
from workers.runtime.telemetry import MODEL_COST_USD, MODEL_REQUESTS, MODEL_SECONDS, MODEL_TOKENS

if TYPE_CHECKING:
    import dspy

log = structlog.get_logger(__name__)

_PASSING = frozenset({"rate_limited", "server_error", "unreachable"})
# What is left of a turn's time is the rules'.
_RESERVE_S = 1.0
_LONGEST_PAUSE_S = 2.0


@dataclass(frozen=True, kw_only=True)
class _Request:
    """One judgement under way."""

    judgement: str
    program: dspy.Predict
    inputs: Mapping[str, object]
    scope: Scope
    ends_at: float

    @property
    def left_s(self) -> float:
        return self.ends_at - time.monotonic()


class LanguageModel:
    """The models of one process. `ask` and `stream` may be called from many turns at once."""

    def __init__(
        self, backends: Mapping[str, Backend], settings: LlmSettings, *, ledger: UsageLedger | None, prices: PriceList
    ) -> None:
        self._backends = backends
        self._settings = settings
        self._ledger = ledger
        self._prices = prices
        self._programs: dict[str, dspy.Predict] = {}
        self._resting = {
            name: Resting(failures=settings.rest_after_failures, rest_s=settings.rest_s) for name in backends
        }

    @classmethod
    async def open(cls, settings: LlmSettings, *, ledger: UsageLedger | None = None) -> LanguageModel:
        """Build the clients. The library takes seconds to load, so it is loaded beside the event loop.

        Raises ValueError for a price list that can't be read and for a version of a program that is not there: a
        process says so when it starts, not in a person's turn.
        """
        for judgement, version in settings.programs.items():
            compiled(settings.programs_dir, judgement, version)
        prices = PriceList.read(settings.prices_file)
        backends = await asyncio.to_thread(_build, settings)
        return cls(backends, settings, ledger=ledger, prices=prices)

    async def close(self) -> None:
        """Close the connections."""
        for backend in self._backends.values():
            await backend.close()

    async def ask(self, signature: type[dspy.Signature], **inputs: object) -> dspy.Prediction:
        """Return the model's typed answer. Raises ModelFailed on time-out, refusal or unreadable output."""
        import dspy

        request = await self._request(signature, inputs)
        for name in self._models(request.judgement):
            try:
                answer = await self._ask_again(name, self._timed(request))
            except UnansweredError as error:
                log.warning("model_failed", judgement=request.judgement, model=name, ending=error.ending)
                continue
            return dspy.Prediction(**answer.values)
        raise self._failed(request, "unanswered")

    async def stream(self, signature: type[dspy.Signature], field: str, **inputs: object) -> AsyncIterator[str]:
        """Yield the text of `field` as the model writes it.

        Raises ModelFailed. Before the first piece the request is made again and the next model tried; after it the text
        breaks off, and the caller says anew what it has to say.
        """
        request = await self._request(signature, inputs)
        has_spoken = False
        for name in self._models(request.judgement):
            try:
                first, rest = await self._begun(name, self._timed(request), field)
                async with aclosing(rest):
                    if first is not None:
                        has_spoken = True
                        yield first
                    async for piece in rest:
                        yield piece
            except UnansweredError as error:
                log.warning("model_failed", judgement=request.judgement, model=name, ending=error.ending)
                if has_spoken:
                    break
                continue
            return
        raise self._failed(request, "broken" if has_spoken else "unanswered")

    async def _request(self, signature: type[dspy.Signature], inputs: Mapping[str, object]) -> _Request:
        judgement = judgement_of(signature)
        scope = current_scope()
        request = _Request(
            judgement=judgement, program=self._program(signature, judgement), inputs=inputs, scope=scope,
            ends_at=time.monotonic() + self._time_s(scope),
        )  # fmt: skip
        if request.left_s <= 0:
            raise self._failed(request, "no_time")
        if await self._is_spent(scope):
            raise self._failed(request, "budget")
        return request

    def _timed(self, request: _Request) -> _Request:
        """Give a model its own time-out, within the turn's deadline: the first one's silence is not the second's."""
        return replace(request, ends_at=time.monotonic() + self._time_s(request.scope))

    def _time_s(self, scope: Scope) -> float:
        if scope.deadline_at is None:
            return self._settings.timeout_s
        left = (scope.deadline_at - utc_now()).total_seconds() - _RESERVE_S
        return min(self._settings.timeout_s, left)

    def _program(self, signature: type[dspy.Signature], judgement: str) -> dspy.Predict:
        if judgement not in self._programs:
            versions: Mapping[str, str] = {str(name): version for name, version in self._settings.programs.items()}
            self._programs[judgement] = load_program(
                signature, folder=self._settings.programs_dir, version=versions.get(judgement)
            )
        return self._programs[judgement]

    def _models(self, judgement: str) -> list[str]:
        """List the clients to ask, in order: the judgement's own model or the general one, then the second."""
        chosen = f"of:{judgement}" if f"of:{judgement}" in self._backends else "first"
        wanted = [chosen, *(["second"] if "second" in self._backends else [])]
        return [name for name in wanted if self._resting[name].may_ask()]

    async def _is_spent(self, scope: Scope) -> bool:
        if self._ledger is None:
            return False
        try:
            if scope.turn_id:
                costs = await self._ledger.of_turn(scope.turn_id)
                if costs.calls >= self._settings.turn_calls or costs.tokens >= self._settings.turn_tokens:
                    return True
            limit = self._settings.tenant_daily_usd
            return bool(limit) and await self._ledger.spent_usd(scope.tenant, today=utc_now().date()) >= limit
        except StoreUnavailable:
            return False

    async def _ask_again(self, name: str, request: _Request) -> Answer:
        """Ask one model, again while its failure may pass and there is time."""
        async for attempt in self._tries(request):
            with attempt:
                return await self._ask_once(name, request)
        raise AssertionError("unreachable: the last attempt returned or raised")

    async def _begun(self, name: str, request: _Request, field: str) -> tuple[str | None, AsyncGenerator[str, None]]:
        """Begin to stream, again as `_ask_again` does; return the first piece (None: there is none) and the rest."""
        async for attempt in self._tries(request):
            with attempt:
                pieces = self._stream_once(name, request, field)
                return await anext(pieces, None), pieces
        raise AssertionError("unreachable: the last attempt returned or raised")

    def _tries(self, request: _Request) -> AsyncRetrying:
        return AsyncRetrying(
            stop=stop_after_attempt(self._settings.retries + 1),
            wait=_pause_s,
            retry=retry_if_exception(lambda error: _may_pass(error, request.left_s)),
            reraise=True,
        )

    async def _ask_once(self, name: str, request: _Request) -> Answer:
        started = time.monotonic()
        try:
            answer = await self._backends[name].ask(
                request.program, request.inputs, timeout_s=max(0.05, request.left_s)
            )
        except UnansweredError as error:
            await self._enter(name, request, started, error)
            raise
        await self._enter(name, request, started, answer)
        return answer

    async def _stream_once(self, name: str, request: _Request, field: str) -> AsyncGenerator[str, None]:
        started = time.monotonic()
        try:
            pieces = self._backends[name].stream(
                request.program, request.inputs, field=field, timeout_s=max(0.05, request.left_s)
            )
            async for piece in pieces:
                if isinstance(piece, Answer):
                    await self._enter(name, request, started, piece)
                else:
                    yield piece
        except UnansweredError as error:
            await self._enter(name, request, started, error)
            raise

    async def _enter(self, name: str, request: _Request, started: float, ended: Answer | UnansweredError) -> None:
        """Count a finished request: ledger, metrics, and whether the model should rest."""
        model = self._backends[name].model
        tokens: Tokens = ended.tokens
        ending = "answered" if isinstance(ended, Answer) else ended.ending
        took_s = time.monotonic() - started
        cost = self._prices.cost_usd(model, prompt_tokens=tokens.prompt, completion_tokens=tokens.completion)
        # An unreadable answer is the model's fault, not the server's: it needs no rest.
        if ending in ("answered", "unreadable"):
            self._resting[name].answered()
        else:
            self._resting[name].failed()
        labels = {"judgement": request.judgement, "model": model}
        MODEL_REQUESTS.labels(**labels, ending=ending).inc()
        MODEL_TOKENS.labels(**labels, kind="prompt").inc(tokens.prompt)
        MODEL_TOKENS.labels(**labels, kind="completion").inc(tokens.completion)
        MODEL_COST_USD.labels(**labels).inc(cost)
        MODEL_SECONDS.labels(judgement=request.judgement).observe(took_s)
        if self._ledger is None:
            return
        use = ModelUse(
            judgement=request.judgement, model=model, ending=ending, prompt_tokens=tokens.prompt,
            completion_tokens=tokens.completion, cost_usd=cost, latency_ms=round(took_s * 1000, 1),
            is_estimated=tokens.is_estimated,
        )  # fmt: skip
        await self._ledger.enter(use, request.scope, today=utc_now().date())

    def _failed(self, request: _Request, reason: str) -> ModelFailed:
        left_to_rules(request.judgement, reason)
        return ModelFailed(f"{request.judgement}: {reason}")


def _may_pass(error: BaseException, left_s: float) -> bool:
    if not isinstance(error, UnansweredError) or error.ending not in _PASSING:
        return False
    return left_s > (error.retry_after_s or 0.0)


def _pause_s(state: RetryCallState) -> float:
    """Wait as long as the server asked, else a random time that grows (full jitter)."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, UnansweredError) and error.retry_after_s is not None:
        return error.retry_after_s
    return float(wait_random_exponential(multiplier=0.1, max=_LONGEST_PAUSE_S)(state))


def _build(settings: LlmSettings) -> dict[str, Backend]:
    key = settings.api_key.get_secret_value() if settings.api_key else None
    server = {"api_base": settings.api_base, "api_key": key, "api_version": settings.api_version}
    backends = {"first": Backend.of(settings)}
    for judgement, model in settings.models.items():
        backends[f"of:{judgement}"] = Backend.build(model, server=server, settings=settings)
    if settings.second_model:
        second_key = settings.second_api_key.get_secret_value() if settings.second_api_key else key
        base = settings.second_api_base or settings.api_base
        second = {"api_base": base, "api_key": second_key, "api_version": settings.api_version}
        backends["second"] = Backend.build(settings.second_model, server=second, settings=settings)
    return backends
