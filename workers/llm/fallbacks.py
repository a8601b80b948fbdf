"""Counts the judgements that models left to the rules: those that failed, and those whose answer was of no use."""

from __future__ import annotations

from schemas.usage import Judgement
from workers.runtime.telemetry import MODEL_FALLBACKS


def left_to_rules(judgement: Judgement | str, reason: str) -> None:
    """Note one. `reason` is a short name: how the request ended, or what was wrong with a readable answer.

    Of the latter: `invented` (no such choice), `ungrounded` (the person's words do not carry it), `guard` (a guard
    objects), `unfit` (it is not what was asked for), `unfinished`, `empty`, `other_language`.
    """
    MODEL_FALLBACKS.labels(judgement=judgement, reason=reason).inc()
