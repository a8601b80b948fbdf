"""Asks a language model one typed question through DSPy, and turns every way it can fail into ModelFailed.

DSPy's own cache stays off (its key leaves out the server and the API key, so answers could cross tenants), and so do
its history and trace (they grow and keep users' words). Each call sets its own context: nothing is global.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import structlog

from workers.errors import ModelFailed
from workers.runtime.settings import LlmSettings, forbid_model_downloads

if TYPE_CHECKING:
    import dspy

log = structlog.get_logger(__name__)


class LanguageModel:
    """One model on one server. `ask` may be called from many turns at once."""

    def __init__(self, lm: dspy.LM, *, timeout_s: float) -> None:
        self._lm = lm
        self._timeout_s = timeout_s

    @classmethod
    async def open(cls, settings: LlmSettings) -> LanguageModel:
        """Build the client. The library takes seconds to load, so it is loaded beside the event loop."""
        lm = await asyncio.to_thread(_build, settings)
        return cls(lm, timeout_s=settings.timeout_s)

    async def ask(self, signature: type[dspy.Signature], **inputs: object) -> dspy.Prediction:
        """Return the model's typed answer. Raises ModelFailed on time-out, refusal or unreadable output."""
        import dspy
        from dspy.utils.exceptions import DSPyError

        predict: Any = dspy.Predict(signature)
        try:
            with dspy.context(lm=self._lm, disable_history=True, max_trace_size=0):
                async with asyncio.timeout(self._timeout_s):
                    prediction: dspy.Prediction = await predict.acall(**inputs)
        except (DSPyError, TimeoutError, OSError, ValueError) as error:
            log.warning("model_failed", signature=signature.__name__, error=type(error).__name__)
            raise ModelFailed(signature.__name__) from error
        return prediction


def _build(settings: LlmSettings) -> dspy.LM:
    forbid_model_downloads()
    import dspy

    return dspy.LM(
        settings.model,
        api_base=settings.api_base,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        temperature=0.0,
        max_tokens=settings.max_tokens,
        cache=False,
        num_retries=0,
        timeout=settings.timeout_s,
    )
