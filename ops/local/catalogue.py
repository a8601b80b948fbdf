"""Reads a catalogue of endpoints and posts each of its entries to a running system."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import httpx
import yaml

from schemas.base import Frozen
from workers.runtime.settings import LocalSettings

DEMO_CATALOGUE = Path(__file__).parents[1] / "demo" / "catalogue.yaml"
_AT_ONCE = 8
_PATIENCE_S = 60.0
_LONGEST_WAIT_S = 240.0
"""A slow machine embeds an endpoint with thirty example questions in three seconds, and others stand before it."""


class CatalogueUnreadable(Exception):
    """The file is no catalogue; the text says where and why."""


class Indexed(Frozen):
    """What became of one entry. `state` is what the system answered; `reason` is empty when all is well."""

    name: str
    endpoint_id: str = ""
    state: str = ""
    reason: str = ""

    @property
    def is_good(self) -> bool:
        """Whether the system took the entry."""
        return not self.reason


def read_catalogue(file: Path, *, demo_url: str = "") -> list[dict[str, Any]]:
    """Return the entries of a YAML or JSON file: a list, or a mapping with the list under `endpoints`.

    URLs of the demo API's usual address are pointed at `demo_url`, where the running one listens. Raises
    CatalogueUnreadable.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogueUnreadable(f"{file}: {error}") from error
    from workers.indexing.catalogue import document_of

    usual = f"http://127.0.0.1:{LocalSettings.model_fields['demo_port'].default}"
    try:
        content = document_of(text.replace(usual, demo_url) if demo_url else text)
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise CatalogueUnreadable(f"{file} is not YAML: {error}") from error
    entries = content.get("endpoints") if isinstance(content, dict) else content
    if not isinstance(entries, list) or not entries:
        raise CatalogueUnreadable(f"{file} holds no endpoints: a list is expected, at the top or under `endpoints`")
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise CatalogueUnreadable(f"{file}: entry {number} is not a mapping")
    return entries


def index_all(url: str, entries: Iterable[dict[str, Any]], *, wait: bool) -> Iterator[Indexed]:
    """Post every entry, a few at a time; yield what became of each as it is known. One bad entry stops no other."""
    with (
        httpx.Client(base_url=url, timeout=_PATIENCE_S, trust_env=False) as client,
        ThreadPoolExecutor(_AT_ONCE) as pool,
    ):
        for done in as_completed([pool.submit(_index_one, client, entry, wait=wait) for entry in entries]):
            yield done.result()


def _index_one(client: httpx.Client, entry: dict[str, Any], *, wait: bool) -> Indexed:
    name = str(entry.get("name", "(an entry without a name)"))
    try:
        answer = client.post("/api-tools", params={"wait": "true"} if wait else None, json=entry)
        body = answer.json()
    except (httpx.HTTPError, ValueError, TypeError) as error:
        return Indexed(name=name, reason=str(error) or type(error).__name__)
    if not answer.is_success or not isinstance(body, dict):
        return Indexed(name=name, reason=_told(answer.status_code, body))
    if wait:
        body = _when_known(client, body)
    state = str(body.get("state", ""))
    reason = ""
    if state == "failed":
        reason = str(body.get("reason") or "indexing failed")
    elif wait and not body.get("isSearchable"):
        reason = "registered, but search does not find it yet; does a worker run?"
    return Indexed(name=name, endpoint_id=str(body.get("endpointId", "")), state=state, reason=reason)


def _when_known(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    """Ask on until search finds the entry or indexing failed: a request waits for seconds, this as long as it takes.

    An entry that is indexed is not found yet either, until every worker has read of it.
    """
    ends_at = time.monotonic() + _LONGEST_WAIT_S
    while body.get("state") != "failed" and not body.get("isSearchable") and time.monotonic() < ends_at:
        try:
            answer = client.get(f"/api-tools/{body['endpointId']}", params={"wait": "true"})
            body = answer.raise_for_status().json()
        except (httpx.HTTPError, ValueError):
            return body
    return body


def _told(status: int, body: object) -> str:
    """Say what a refusal says: every fault with its path, else the sentence."""
    told = body if isinstance(body, dict) else {}
    faults = [f"{fault.get('path')}: {fault.get('message')}" for fault in told.get("fields") or ()]
    return "; ".join(faults) or str(told.get("error") or f"HTTP {status}")
