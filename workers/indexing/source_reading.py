"""Reads one source: text → endpoints and problems. The parsing is pure; fetching comes in by the door."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urljoin

from pydantic import ValidationError

from schemas.endpoints import Endpoint
from schemas.registration import EndpointRegistration
from schemas.sources import Source, SourceKind, SourceProblem
from workers.errors import DocumentUnreadable
from workers.indexing.catalogue import read_catalogue
from workers.indexing.openapi.beside import Load, from_folder, texts_beside
from workers.indexing.openapi.document import LARGEST_BYTES, DocumentRefused
from workers.indexing.openapi.importer import import_document

Fetch = Callable[[str], Awaitable[tuple[str, str]]]
"""Address → (text, the address it came from at last). Raises DocumentUnreadable."""


@dataclass(frozen=True, kw_only=True)
class Text:
    """What a source holds. `url` is empty for files; `others` are the files that an OpenAPI document refers to."""

    text: str
    url: str = ""
    others: Mapping[str, str] = field(default_factory=dict)

    def digest(self, source: Source) -> str:
        """Digest the text and everything in the source's entry that decides what becomes of it."""
        decides = source.model_dump_json(include={"kind", "tenant", "server"})
        parts = [decides, self.url, self.text, *(part for one in sorted(self.others.items()) for part in one)]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


@dataclass(kw_only=True)
class Found:
    """The endpoints of a source by id, and what could not be used.

    `unsure` are names of entries that are there but can't be read: what the registry has under such a name stays.
    """

    endpoints: dict[str, Endpoint] = field(default_factory=dict)
    problems: list[SourceProblem] = field(default_factory=list)
    unsure: set[str] = field(default_factory=set)


async def read_text(source: Source, fetch: Fetch) -> Text:
    """Read the file, or fetch the URL. Raises DocumentUnreadable."""
    if source.is_remote:
        text, url = await fetch(source.location)
        load = from_host(url, fetch)
    else:
        text, url = await asyncio.to_thread(_file, Path(source.location)), ""
        load = from_folder(Path(source.location).parent)
    if source.kind is not SourceKind.OPENAPI:
        return Text(text=text, url=url)
    return Text(text=text, url=url, others=await texts_beside(text, load))


def from_host(url: str, fetch: Fetch) -> Load:
    """Fetch files from the document's own host; another host is none of its business."""

    async def load(path: str) -> str | None:
        try:
            return (await fetch(urljoin(url, quote(path))))[0]
        except DocumentUnreadable:
            return None

    return load


def _file(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise DocumentUnreadable(f"{path} is larger than {LARGEST_BYTES // 1_000_000} MB")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DocumentUnreadable(f"{path} can't be read: {error}") from error


def parse(source: Source, text: Text) -> Found:
    """Make endpoints of the text. Raises DocumentUnreadable when nothing of it can be used."""
    return _openapi(source, text) if source.kind is SourceKind.OPENAPI else _catalogue(source, text)


def _catalogue(source: Source, text: Text) -> Found:
    endpoints, problems = read_catalogue(text.text, tenant=source.tenant)
    found = Found(endpoints={one.endpoint_id: one for one in endpoints})
    for problem in problems:
        if problem.entry is None:
            raise DocumentUnreadable(f"{source.location}: {problem.message}")
        where = f"endpoints.{problem.entry}.{problem.path}".rstrip(".")
        found.problems.append(SourceProblem(where=where, name=problem.name, message=problem.message))
        found.unsure.add(problem.name)
    return found


def _openapi(source: Source, text: Text) -> Found:
    try:
        report = import_document(text.text, source_url=text.url, server=source.server, others=text.others)
    except DocumentRefused as refused:
        raise DocumentUnreadable(f"{source.location}: {refused}") from refused
    found = Found()
    for one in report.operations:
        name = one.operation_id or f"{one.method} {one.path}"
        if one.state == "refused":
            found.unsure.add(name)
            found.problems += [
                SourceProblem(where=remark.pointer, name=name, message=remark.reason) for remark in one.remarks
            ]
        elif one.endpoint is not None:
            _add(found, one.endpoint, source, where=one.pointer)
    return found


def _add(found: Found, registration: dict[str, object], source: Source, *, where: str) -> None:
    name = str(registration.get("name", ""))
    try:
        endpoint = EndpointRegistration.model_validate(registration).to_endpoint(source.tenant)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        found.problems.append(SourceProblem(where=where, name=name, message=fault["msg"]))
        found.unsure.add(name)
        return
    if endpoint.endpoint_id in found.endpoints:
        found.problems.append(SourceProblem(where=where, name=name, message="seen twice; the first is kept"))
        return
    found.endpoints[endpoint.endpoint_id] = endpoint


def digest_of(endpoint: Endpoint) -> str:
    """Digest everything of an endpoint but its version."""
    return hashlib.sha256(endpoint.model_dump_json(exclude={"version"}).encode()).hexdigest()[:32]
