"""One model on one server, through DSPy: a typed question, whole or streamed, and every way it can fail.

DSPy's own cache stays off (its key leaves out the server and the API key, so answers could cross tenants), and so do
its history and trace (they grow and keep users' words). Each request sets its own context: nothing is global. DSPy
would ask a second time in another form when it cannot read an answer; we read it loosely instead (`repair`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from schemas.usage import Ending
from workers.llm.answers import Answer, Tokens, UnansweredError, estimated_tokens
from workers.llm.field_stream import FieldStream
from workers.llm.repair import read_loosely
from workers.runtime.settings import LlmSettings, forbid_model_downloads

if TYPE_CHECKING:
    import dspy
    from dspy.utils.usage_tracker import UsageTracker

    from workers.llm.form import Form

_CUT_OFF = "length"


class Backend:
    """A model's client. `ask` and `stream` may run many times at once."""

    def __init__(self, lm: dspy.LM, *, form: Form = "marks") -> None:
        self._lm = lm
        self._form: Form = form

    @property
    def model(self) -> str:
        """The model's DSPy name, such as "openai/gpt-4.1-mini"."""
        return str(self._lm.model)

    @classmethod
    def build(cls, model: str, *, server: Mapping[str, str | None], settings: LlmSettings) -> Backend:
        """Make the client. Loads DSPy, which takes a second or two. `server`: api_base, api_key, api_version."""
        forbid_model_downloads()
        import dspy

        if model.startswith("azure"):
            # DSPy asks Azure through this library, which takes seconds to load: not in a user's turn.
            import litellm  # noqa: F401

        given: dict[str, Any] = {name: value for name, value in server.items() if value}
        fixed: dict[str, Any] = {"temperature": 0.0, "cache": False, "num_retries": 0}
        lm = dspy.LM(model, max_tokens=settings.max_tokens, timeout=settings.timeout_s, **fixed, **given)
        return cls(lm, form=settings.form)

    @classmethod
    def of(cls, settings: LlmSettings) -> Backend:
        """Make the client of the general model."""
        key = settings.api_key.get_secret_value() if settings.api_key else None
        server = {"api_base": settings.api_base, "api_key": key, "api_version": settings.api_version}
        return cls.build(settings.model, server=server, settings=settings)

    @contextmanager
    def for_programs(self) -> Iterator[None]:
        """Make this the model of the DSPy programs and optimisers that run within, on this thread."""
        import dspy

        from workers.llm.form import adapter_of

        with dspy.context(lm=self._lm, adapter=adapter_of(self._form)):
            yield

    async def ask(self, program: dspy.Predict, inputs: Mapping[str, object], *, timeout_s: float) -> Answer:
        """Return the whole answer. Raises UnansweredError."""
        from dspy.utils.exceptions import AdapterParseError, DSPyError

        runnable: Any = program
        with self._context() as tracker:
            try:
                async with asyncio.timeout(timeout_s):
                    prediction = await runnable.acall(**inputs)
            except AdapterParseError as error:
                return _read(error, program, _tokens(tracker, inputs, error.lm_response))
            except (DSPyError, OSError, ValueError) as error:
                raise _unanswered(error) from error
            return Answer(values=prediction.toDict(), tokens=_tokens(tracker, inputs, str(prediction.toDict())))

    async def stream(
        self, program: dspy.Predict, inputs: Mapping[str, object], *, field: str, timeout_s: float
    ) -> AsyncIterator[str | Answer]:
        """Yield the text of `field` as the model writes it, then the whole Answer. Raises UnansweredError.

        `timeout_s` bounds the wait for each piece. DSPy runs in a task of its own: its context must not be entered in
        one task and left in another, as would happen in a generator that is closed early.
        """
        pieces: asyncio.Queue[Any] = asyncio.Queue()
        producing = asyncio.create_task(self._produce(program, inputs, pieces))
        producing.add_done_callback(lambda _: pieces.put_nowait(None))
        reader, said, finish = FieldStream(field), "", None
        try:
            while True:
                async with asyncio.timeout(timeout_s):
                    piece = await pieces.get()
                if isinstance(piece, Answer):
                    if finish == _CUT_OFF:
                        raise UnansweredError("broken", tokens=piece.tokens)
                    if rest := _rest(str(piece.values.get(field, "")), said):
                        yield rest
                    yield piece
                    return
                if piece is None:
                    await producing  # raises what ended it
                    raise UnansweredError("broken")
                finish = piece.choices[0].finish_reason or finish
                if shown := reader.feed(piece.choices[0].delta.content or ""):
                    said += shown
                    yield shown
        except TimeoutError as error:
            raise UnansweredError("timed_out") from error
        finally:
            producing.cancel()

    async def _produce(self, program: dspy.Predict, inputs: Mapping[str, object], pieces: asyncio.Queue[Any]) -> None:
        import dspy
        from dspy.utils.exceptions import AdapterParseError, DSPyError

        streamed: Any = dspy.streamify(program, is_async_program=True)
        with self._context() as tracker:
            try:
                async for value in streamed(**inputs):
                    if isinstance(value, dspy.Prediction):
                        values = value.toDict()
                        pieces.put_nowait(Answer(values=values, tokens=_tokens(tracker, inputs, str(values))))
                    elif getattr(value, "choices", None):
                        pieces.put_nowait(value)
            except AdapterParseError as error:
                tokens = _tokens(tracker, inputs, error.lm_response)
                pieces.put_nowait(_read(error, program, tokens, prose_is_answer=True))
            except (DSPyError, OSError, ValueError) as error:
                raise _unanswered(error) from error

    @contextmanager
    def _context(self) -> Iterator[UsageTracker]:
        import dspy
        from dspy.utils.usage_tracker import track_usage

        from workers.llm.form import adapter_of

        adapter = adapter_of(self._form)
        settings: dict[str, Any] = {"disable_history": True, "max_trace_size": 0, "track_usage": True, "callbacks": []}
        with dspy.context(lm=self._lm, adapter=adapter, **settings), track_usage() as tracker:
            yield tracker

    async def close(self) -> None:
        """Close the connections of the running loop."""
        lm: Any = self._lm
        await lm.aclose()


def _read(error: Any, program: Any, tokens: Tokens, *, prose_is_answer: bool = False) -> Answer:
    fields = {name: field.annotation for name, field in program.signature.output_fields.items()}
    values = read_loosely(error.lm_response or "", fields, prose_is_answer=prose_is_answer)
    if values is None:
        raise UnansweredError("unreadable", tokens=tokens) from error
    return Answer(values=values, tokens=tokens)


def _rest(whole: str, said: str) -> str:
    """Return what the stream held back; nothing when the two differ, since words once said cannot be taken back."""
    return whole[len(said) :] if whole.startswith(said) else ""


def _tokens(tracker: UsageTracker, inputs: Mapping[str, object], received: str) -> Tokens:
    counted = [usage for usages in tracker.usage_data.values() for usage in usages]
    prompt = sum(int(usage.get("prompt_tokens") or 0) for usage in counted)
    completion = sum(int(usage.get("completion_tokens") or 0) for usage in counted)
    if prompt or completion:
        return Tokens(prompt=prompt, completion=completion)
    return estimated_tokens(" ".join(str(value) for value in inputs.values()), received)


_RATE_LIMITED = 429
_SERVER_ERROR = 500
_CLIENT_ERROR = 400


def _unanswered(error: Exception) -> UnansweredError:
    """Name the way a request failed. DSPy's errors carry the server's status."""
    from dspy.utils import exceptions as failed

    status = getattr(error, "status", None)
    retry_after_s = getattr(error, "retry_after", None)
    ending: Ending
    if isinstance(error, TimeoutError | failed.LMTimeoutError):
        ending = "timed_out"
    elif isinstance(error, failed.LMRateLimitError) or status == _RATE_LIMITED:
        ending = "rate_limited"
    elif isinstance(error, failed.LMServerError) or (status or 0) >= _SERVER_ERROR:
        ending = "server_error"
    elif isinstance(error, failed.LMTransportError | OSError):
        ending = "unreachable"
    elif isinstance(error, failed.LMAuthError | failed.LMBillingError | failed.LMInvalidRequestError) or (
        (status or 0) >= _CLIENT_ERROR
    ):
        ending = "refused"
    else:
        ending = "unreadable"
    return UnansweredError(ending, retry_after_s=retry_after_s)
