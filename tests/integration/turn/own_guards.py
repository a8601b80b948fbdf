"""Guards as an operator would write them, good ones and broken ones."""

from __future__ import annotations

from workers.guarding.guard import Said


class Breaks:
    """Raises, with the person's words in its error."""

    name = "breaks"

    def check(self, said: Said) -> str | None:
        raise RuntimeError(said.text)


class NoSkoda:
    """Objects to a make of car."""

    name = "no_skoda"

    def check(self, said: Said) -> str | None:
        return "a make" if "koda" in said.text else None
