"""Celery's consumer, except that no message is thrown away: what it would discard goes to quarantine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from celery import signals
from celery.worker.consumer import Consumer as CeleryConsumer
from kombu.exceptions import KombuError

from tasks.quarantine import Parked, Quarantine, Reason
from workers.runtime.settings import settings

_UNFIT = (TypeError, ValueError, KeyError, AttributeError, IndexError)


class Consumer(CeleryConsumer):  # type: ignore[misc] # Celery ships no types
    """Parks unknown tasks (a rolling deployment makes them), unknown forms, and bodies that are no task's."""

    _quarantine: Quarantine | None = None

    def create_task_handler(self, *args: Any, **kwargs: Any) -> Callable[[Any], object]:
        """Return Celery's handler, guarded against bodies whose shape it takes for granted."""
        handle = super().create_task_handler(*args, **kwargs)

        def handle_or_park(message: Any) -> object:
            try:
                return handle(message)
            except _UNFIT as error:
                self._park(message, "invalid", error)
                return None

        return handle_or_park

    def on_decode_error(self, message: Any, exc: Exception) -> None:
        """Park a message whose body cannot be decoded."""
        self._park(message, "unreadable", exc)

    def on_unknown_message(self, body: object, message: Any) -> None:
        """Park a message that is not in the form of a task."""
        self._park(message, "unknown_form", TypeError(f"a body of type {type(body).__name__}"))
        signals.task_rejected.send(sender=self, message=message, exc=None)

    def on_unknown_task(self, body: object, message: Any, exc: Exception) -> None:
        """Park a task that this release does not know; `Quarantine.take_unknown` brings it back."""
        del body
        self._park(message, "unknown_task", exc)
        headers = message.headers or {}
        signals.task_unknown.send(sender=self, message=message, exc=exc, name=headers.get("task"), id=headers.get("id"))

    def on_invalid_task(self, body: object, message: Any, exc: Exception) -> None:
        """Park a task whose headers or content type are refused."""
        del body
        self._park(message, "invalid", exc)
        signals.task_rejected.send(sender=self, message=message, exc=exc)

    def _park(self, message: Any, reason: Reason, error: Exception) -> None:
        """Keep the message and acknowledge it; when it cannot be kept it goes back to its queue."""
        if self._quarantine is None:
            self._quarantine = Quarantine.open(settings())
        headers = message.headers if isinstance(message.headers, dict) else {}
        parked = Parked(
            reason=reason,
            queue=str((message.delivery_info or {}).get("routing_key", "")),
            raw=_text(message.body),
            error=repr(error),
            task=str(headers.get("task", "")),
            task_id=str(headers.get("id", "")),
            args=_arguments(message),
        )
        if self._quarantine.park(parked):
            message.ack_log_error(self._logger, self.connection_errors)
        else:
            message.reject_log_error(self._logger, self.connection_errors, requeue=True)

    @property
    def _logger(self) -> Any:
        from celery.utils.log import get_logger

        return get_logger(__name__)


def _text(body: object) -> str:
    return body.decode("utf-8", errors="backslashreplace") if isinstance(body, bytes) else str(body)


def _arguments(message: Any) -> tuple[Any, ...]:
    """Return the positional arguments of a task message, () when there are none to read."""
    try:
        args = message.payload[0]
    except (*_UNFIT, KombuError):
        return ()
    return tuple(args) if isinstance(args, list | tuple) else ()
