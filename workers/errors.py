"""The errors of the house. The type decides what happens next.

WorkerError
├── TransientError     retried by the table in tasks/retry.py
│   ├── StoreUnavailable
│   └── ModelFailed
├── PermanentError     dead-lettered at once
│   ├── UnknownTurn
│   ├── EndpointUnknown
│   ├── DocumentUnreadable
│   └── IndexRefused
├── Overloaded         given back to the queue: this process has too much of it already
└── StaleTurn          ignored: another worker was first
"""

from __future__ import annotations


class WorkerError(Exception):
    """Base of all; never raised itself."""


class TransientError(WorkerError):
    """Trying again later may help."""


class StoreUnavailable(TransientError):
    """Redis, or another store, did not answer."""


class ModelFailed(TransientError):
    """A language model did not answer, or not in the form that was asked; the rules decide instead."""


class PermanentError(WorkerError):
    """Trying again cannot help."""


class UnknownTurn(PermanentError):
    """No record of that turn (never admitted, or expired)."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(turn_id)
        self.turn_id = turn_id


class EndpointUnknown(PermanentError):
    """No endpoint of that id is registered."""

    def __init__(self, endpoint_id: str) -> None:
        super().__init__(endpoint_id)
        self.endpoint_id = endpoint_id


class DocumentUnreadable(PermanentError):
    """A document can't be had, or can't be used; the message says why, to the operator."""


class IndexRefused(PermanentError):
    """An endpoint can't be indexed; `reason` is told to the operator."""

    def __init__(self, endpoint_id: str, reason: str) -> None:
        super().__init__(endpoint_id, reason)
        self.endpoint_id = endpoint_id
        self.reason = reason


class Overloaded(WorkerError):
    """This process could not begin in time; the message goes back to the queue, and no try is counted."""


class StaleTurn(WorkerError):
    """The turn's record moved on while we worked; our work is dropped and nothing is wrong."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(turn_id)
        self.turn_id = turn_id
