"""A request that is ready to be sent: what it holds, and why a value may have no place in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.base import JsonValue

Pairs = tuple[tuple[str, str], ...]
CertificateFiles = tuple[str, str | None]
"""Paths of PEM files: a client certificate, and its key when that is a file of its own."""


class CannotPlace(ValueError):
    """A value has no safe place in the request; `param` names it, `why` is for the log and carries no value."""

    def __init__(self, param: str, why: str) -> None:
        super().__init__(param, why)
        self.param = param
        self.why = why


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of a multipart body; a part with a file name is sent as a file."""

    name: str
    text: str = field(repr=False)
    file_name: str | None = None
    media_type: str | None = None


@dataclass(frozen=True, kw_only=True)
class PreparedRequest:
    """What goes over the wire. `url` has no query; keys of `query` may repeat; at most one kind of body is set.

    `secrets` are what credentials were added to the request: they are blanked out of its answer. Nothing that may hold
    a person's values or a secret shows in the repr.
    """

    method: str
    url: str
    query: Pairs = field(default=(), repr=False)
    headers: Pairs = field(default=(), repr=False)
    json: JsonValue = field(default=None, repr=False)
    form: Pairs | None = field(default=None, repr=False)
    multipart: tuple[Part, ...] | None = field(default=None, repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    certificate: CertificateFiles | None = field(default=None, repr=False)
