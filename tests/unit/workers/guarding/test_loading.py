"""Guards by name: built-in ones, an operator's own, and names that are none."""

from __future__ import annotations

import re

import pytest
from structlog.testing import capture_logs

from workers.guarding.guard import Blocked, Said, first_objection
from workers.guarding.loading import guards_of
from workers.runtime.settings import GuardSettings
from workers.runtime.telemetry import GUARD_FAILURES

HERE = __name__


class NoShouting:
    """An operator's own guard."""

    name = "shouting"

    def check(self, said: Said) -> str | None:
        return "shouting" if said.text.isupper() else None


class NoGuard:
    name = "none"


class Broken:
    """A guard with a bug, whose message would give the person's words away."""

    name = "broken"

    def check(self, said: Said) -> str | None:
        raise RuntimeError(said.text)


class Vague:
    name = "vague"

    def check(self, said: Said) -> str | None:
        return len(said.text)  # type: ignore[return-value] - operators write what they write


@pytest.mark.parametrize("guard", ["Broken", "Vague"])
def test_a_guard_that_breaks_breaks_no_turn(guard: str) -> None:
    name = guard.lower()
    before = GUARD_FAILURES.labels(guard=name)._value.get()
    said = Said(text="my words", language="en")

    with capture_logs() as logs:
        refused = first_objection(guards_of(f"{HERE}:{guard}", GuardSettings()), said)
        passed = first_objection(guards_of(f"{HERE}:{guard}", GuardSettings(broken="pass")), said)

    assert refused == Blocked(name, "the guard itself failed")
    assert passed is None
    assert GUARD_FAILURES.labels(guard=name)._value.get() == before + 2
    assert [entry["event"] for entry in logs] == ["guard_failed", "guard_failed"]
    assert "my words" not in str(logs)


def test_every_built_in_guard_of_the_defaults_can_be_made() -> None:
    settings = GuardSettings()
    named = f"{settings.questions}, {settings.answers}, {settings.model_answers}"

    made = [guard.name for guard in guards_of(named, settings)]

    assert made == ["injection", "secrets", "length", "raw_data", "language", "numbers", "contacts", "cards"]


def test_an_operators_guard_is_asked_in_its_place() -> None:
    guards = guards_of(f"length, {HERE}:NoShouting", GuardSettings(longest_question=5))

    assert first_objection(guards, Said(text="HEY", language="en")) == Blocked("shouting", "shouting")
    assert first_objection(guards, Said(text="HEY THERE", language="en")) == Blocked("length", "more than 5 characters")
    assert first_objection(guards, Said(text="hey", language="en")) is None


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("lenght", "'lenght' is no guard: use injection, secrets"),
        ("nowhere:Guard", "the guard 'nowhere:Guard' cannot be made: No module named 'nowhere'"),
        (f"{HERE}:Missing", "cannot be made"),
        (f"{HERE}:NoGuard", "it needs a name (text) and check(said)"),
    ],
)
def test_a_name_that_is_no_guard_is_refused_with_the_reason(named: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        guards_of(named, GuardSettings())
