"""Every number and date in an answer must stand in the data or in the question: a model may word, not invent. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from workers.guarding.guard import Said


@dataclass(frozen=True)
class NumbersStandInTheData:
    """Objects to a number or a day of the year that the sources do not hold.

    A list's length and a rounded value are held.
    """

    name: str = "numbers"

    def check(self, said: Said) -> str | None:
        """Return what is wrong, or None."""
        rest = said.sources.without_contacts_of(said.text)
        if not said.sources.hold_all_numbers_of(rest):
            return "a number that the data does not hold"
        return None if said.sources.hold_all_days_of(rest) else "a date that the data does not hold"
