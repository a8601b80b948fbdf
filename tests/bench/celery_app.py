"""The product's own worker, with instant rooms in the place of the real ones."""

from __future__ import annotations

from tests.bench.instant import open_instant_rooms
from workers import wiring

wiring.open_rooms = open_instant_rooms

from tasks.app import app  # noqa: E402 — the rooms must be swapped before the app's lifecycle binds them

__all__ = ["app"]
