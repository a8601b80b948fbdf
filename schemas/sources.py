"""Where endpoints come from on a schedule, and what became of each run."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from schemas.base import AwareDatetime, Frozen
from schemas.endpoints import BASE_URL

NAMES_TOLD = 50
"""How many names a tally carries; the count is always whole."""

_UNITS_S = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def _seconds(value: object) -> object:
    """Read `15m`, `2h`, `1d` and `30s`; numbers are seconds already."""
    if isinstance(value, str) and value[-1:] in _UNITS_S and value[:-1].strip().isdigit():
        return int(value[:-1]) * _UNITS_S[value[-1]]
    return value


class SourceKind(StrEnum):
    """How a source is read.

    A catalogue is a list of registrations, a REST source the same list as an API answers it (Ruuter puts it under
    `response`), an OpenAPI source a document of version 3 or Swagger 2.
    """

    CATALOGUE = "catalogue"
    REST = "rest"
    OPENAPI = "openapi"


class Source(Frozen):
    """One source. `location` is a URL, or a path that the workers can read (relative to the list that names it).

    `server` is where an OpenAPI document's API is served, instead of where the document says. `most_removed` is the
    share of the source's endpoints that one run may take away.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")
    kind: SourceKind = SourceKind.CATALOGUE
    location: str = Field(min_length=1, max_length=4_000)
    tenant: str = Field(default="default", pattern=r"^[A-Za-z0-9._-]{1,100}$")
    every_s: Annotated[float, BeforeValidator(_seconds)] = Field(default=3_600, ge=1, le=366 * 86_400)
    server: str = Field(default="", pattern=rf"^$|{BASE_URL}")
    most_removed: float = Field(default=0.5, ge=0, le=1)

    @property
    def is_remote(self) -> bool:
        """Whether it is read over the network."""
        return self.location.startswith(("http://", "https://"))

    @model_validator(mode="after")
    def _an_api_is_remote(self) -> Self:
        if self.kind is SourceKind.REST and not self.is_remote:
            raise ValueError("a rest source needs an http:// or https:// location")
        return self


class SourceList(Frozen):
    """The sources as the workers last read them, and what was wrong with the list."""

    sources: tuple[Source, ...] = ()
    faults: tuple[str, ...] = ()
    read_at: AwareDatetime


class Owned(Frozen):
    """An endpoint that a source brought: `digest` is of what it last brought."""

    source: str
    name: str
    digest: str


class Tally(Frozen):
    """How many, and the first names."""

    count: int = 0
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: list[str]) -> Self:
        """Count names, and keep the first of them."""
        return cls(count=len(names), names=tuple(sorted(names)[:NAMES_TOLD]))


class SourceProblem(Frozen):
    """What of a source could not be used: where, the endpoint's name if it has one, and why."""

    where: str
    name: str = ""
    message: str


class SourceRun(Frozen):
    """One run. `digest` is of the text that was read, `done` of `total` endpoints are through.

    `held_back` are endpoints that vanished from the source, but too many at once: they stay registered until a run is
    forced. An `unchanged` run found the very text of the run before and did nothing.
    """

    run_id: str
    source: str
    asked_at: AwareDatetime
    dry_run: bool = False
    force: bool = False
    state: Literal["asked", "running", "done", "unchanged", "failed"] = "asked"
    ended_at: AwareDatetime | None = None
    reason: str = ""
    digest: str = ""
    done: int = 0
    total: int = 0
    added: Tally = Tally()
    changed: Tally = Tally()
    removed: Tally = Tally()
    held_back: Tally = Tally()
    unchanged: int = 0
    problems: tuple[SourceProblem, ...] = ()
    problem_count: int = 0

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return self.ended_at is not None
