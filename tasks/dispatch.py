"""Turns what a stage asks for into a message, or a chord of messages, that knows which task it comes from."""

from __future__ import annotations

from schemas.commands import Command
from tasks.current import current_request
from tasks.job import trace_of
from tasks.process import process


async def dispatch(command: Command | None) -> None:
    """Send what the turn asks for; None asks for nothing. Raises StoreUnavailable without a broker."""
    if command is not None:
        await process().publisher.stage(command, trace=trace_of(current_request.get()))
