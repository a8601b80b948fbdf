"""On whose behalf models are asked: a turn, its tenant and its deadline, carried to every request made within."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Whom a request to a model is made for. `deadline_at` is aware; None means that only the time-out bounds it."""

    tenant: str
    turn_id: str | None = None
    deadline_at: datetime | None = None


_NOBODY = Scope(tenant="")
_current: ContextVar[Scope] = ContextVar("model_scope", default=_NOBODY)


def current_scope() -> Scope:
    """Return the scope that the running code is in; outside of any, one of no tenant."""
    return _current.get()


@contextmanager
def asking_for(tenant: str, *, turn_id: str | None = None, deadline_at: datetime | None = None) -> Iterator[Scope]:
    """Name the turn that requests within are made for. Tasks started within inherit it."""
    scope = Scope(tenant=tenant, turn_id=turn_id, deadline_at=deadline_at)
    token = _current.set(scope)
    try:
        yield scope
    finally:
        _current.reset(token)
