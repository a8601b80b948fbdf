"""Resolves references to secrets, in the calling worker and nowhere else. Values are read anew for each call."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import SecretStr

from workers.calling.egress import plain_host
from workers.runtime.settings import CallingSettings, environment_secret

_LARGEST_BYTES = 64 * 1024


class SecretMissing(Exception):
    """A reference that leads to nothing, or that this host may not have. Both texts are for the log."""

    def __init__(self, reference: str, why: str) -> None:
        super().__init__(reference, why)
        self.reference = reference
        self.why = why


@dataclass(frozen=True, kw_only=True)
class Vault:
    """What may be read: variables of one prefix, files of one folder; and which secrets are bound to which hosts."""

    prefix: str
    folder: Path
    bound: dict[str, frozenset[str]]

    @classmethod
    def open(cls, settings: CallingSettings) -> Self:
        """Raises ValueError when CALLING_SECRET_HOSTS can't be read."""
        bound: dict[str, set[str]] = {}
        for entry in filter(None, (part.strip() for part in settings.secret_hosts.split(","))):
            reference, equals, host = entry.partition("=")
            if not equals or not host.strip() or not reference.startswith(("env:", "file:")):
                raise ValueError(f"CALLING_SECRET_HOSTS: {entry!r} is not like env:NAME=host")
            bound.setdefault(reference.strip(), set()).add(plain_host(host.strip()))
        frozen = {reference: frozenset(hosts) for reference, hosts in bound.items()}
        return cls(prefix=settings.secret_prefix, folder=settings.secrets_dir, bound=frozen)

    async def read(self, reference: str, *, host: str) -> SecretStr:
        """Return the secret that goes to the host. Raises SecretMissing."""
        self.check_binding(reference, host)
        scheme, _, name = reference.partition(":")
        if scheme == "env":
            found = environment_secret(name, prefix=self.prefix)
        else:
            found = await asyncio.to_thread(self._read_file, reference)
        if found is None:
            raise SecretMissing(reference, "not there, empty, or not an endpoint's to read")
        return found

    async def file(self, reference: str, *, host: str) -> str:
        """Return the path of a file that goes to the host. Raises SecretMissing."""
        self.check_binding(reference, host)
        return str(await asyncio.to_thread(self._path, reference))

    def check_binding(self, reference: str, host: str) -> None:
        """Raise SecretMissing when the secret is bound to hosts and this is none of them."""
        hosts = self.bound.get(reference)
        if hosts is not None and plain_host(host) not in hosts:
            raise SecretMissing(reference, "bound to another host")

    def _path(self, reference: str) -> Path:
        """Find the file, links followed; it must lie in the folder."""
        folder = self.folder.resolve()
        path = (folder / reference.removeprefix("file:")).resolve()
        if not path.is_relative_to(folder) or not path.is_file():
            raise SecretMissing(reference, "no file of the folder of secrets")
        return path

    def _read_file(self, reference: str) -> SecretStr | None:
        try:
            with self._path(reference).open("rb") as file:
                text = file.read(_LARGEST_BYTES).decode().strip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise SecretMissing(reference, type(error).__name__) from None
        return SecretStr(text) if text else None
