"""Messages too long to be a question. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from workers.guarding.guard import Said


@dataclass(frozen=True)
class NotTooLong:
    """Objects to a text of more than `most` characters."""

    most: int
    name: str = "length"

    def check(self, said: Said) -> str | None:
        """Return what is wrong, or None."""
        return f"more than {self.most} characters" if len(said.text) > self.most else None
