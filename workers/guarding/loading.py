"""Makes guards by the names in the settings: built-in ones, and an operator's own by their place in a module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

from workers.guarding.attacks import NoAttacks
from workers.guarding.guard import Guard
from workers.guarding.length import NotTooLong
from workers.guarding.numbers import NumbersStandInTheData
from workers.guarding.output import ContactsStandInTheData, NoCards, NoRawData, NoSecrets, RightLanguage
from workers.guarding.own import Shielded
from workers.runtime.settings import GuardSettings

_BUILT_IN: Mapping[str, Callable[[GuardSettings], Guard]] = MappingProxyType(
    {
        "injection": lambda _: NoAttacks(),
        "secrets": lambda _: NoSecrets(),
        "length": lambda settings: NotTooLong(settings.longest_question),
        "cards": lambda _: NoCards(),
        "raw_data": lambda _: NoRawData(),
        "language": lambda _: RightLanguage(),
        "numbers": lambda _: NumbersStandInTheData(),
        "contacts": lambda _: ContactsStandInTheData(),
    }
)


def guards_of(named: str, settings: GuardSettings) -> tuple[Guard, ...]:
    """Return the guards of a list with commas, in that order. `package.module:Class` is made without arguments.

    Raises ValueError, saying which name and why, for one that is neither built in nor to be found, and for a class
    that is no guard.
    """
    names = dict.fromkeys(filter(None, (name.strip() for name in named.split(","))))
    return tuple(_BUILT_IN[name](settings) if name in _BUILT_IN else _own(name, settings) for name in names)


def _own(name: str, settings: GuardSettings) -> Guard:
    module, colon, attribute = name.partition(":")
    if not colon:
        known = ", ".join(_BUILT_IN)
        raise ValueError(f"{name!r} is no guard: use {known}, or your own as package.module:Class")
    try:
        guard = getattr(import_module(module), attribute)()
    except (ImportError, AttributeError, TypeError) as error:
        raise ValueError(f"the guard {name!r} cannot be made: {error}") from error
    if not isinstance(getattr(guard, "name", None), str) or not callable(getattr(guard, "check", None)):
        raise ValueError(f"{name!r} is no guard: it needs a name (text) and check(said) -> str | None")  # noqa: TRY004
    return Shielded(guard, objects=settings.broken == "refuse")
