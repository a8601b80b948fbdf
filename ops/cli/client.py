"""Talks to the HTTP door as any client would."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import httpx

from ops.cli.screen import UNREACHABLE, CommandFailed

END = "END"
_CONNECTIONS_TRIED = 5


@dataclass(frozen=True, kw_only=True)
class Heard:
    """One server-sent event. Content frames have no name; the named ones tell phases, questions, calls, errors."""

    name: str
    event_id: str
    data: dict[str, Any]

    @property
    def content(self) -> str:
        """The piece of text it carries."""
        return "" if self.name else str(self.data["payload"]["content"])

    @property
    def buttons(self) -> list[dict[str, str]]:
        """The choices it offers."""
        return [] if self.name else self.data["payload"].get("buttons") or []


def read_events(lines: Iterator[str]) -> Iterator[Heard]:
    """Parse an event stream; comments are left out, an event that was cut off is not given."""
    fields: dict[str, str] = {}
    for line in lines:
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
            continue
        if "data" in fields:
            data = json.loads(fields["data"])
            yield Heard(name=fields.get("event", ""), event_id=fields.get("id", ""), data=data)
        fields = {}


class Shim:
    """The HTTP door at one address. Every method raises CommandFailed with what the door said."""

    def __init__(self, url: str, *, timeout_s: float = 90.0) -> None:
        self.url = url
        self._client = httpx.Client(base_url=url, timeout=timeout_s, trust_env=False)

    def request(self, method: str, path: str, **sent: Any) -> Any:
        """Send a request; return the JSON of its answer, None when it has none."""
        try:
            answer = self._client.request(method, path, **sent)
        except httpx.HTTPError as error:
            raise self._away(error) from error
        if not answer.is_success:
            raise _refused(answer)
        return answer.json() if answer.content else None

    def stream(self, said: dict[str, Any]) -> Iterator[Heard]:
        """Say something and yield what is heard until END, over as many connections as it takes."""
        turn_id, last_id, tried = "", "", 0
        while True:
            request = (
                self._client.build_request("GET", f"/turns/{turn_id}/events", headers={"Last-Event-ID": last_id or "0"})
                if turn_id
                else self._client.build_request("POST", "/orchestrate/stream", json=said)
            )
            request.url = request.url.copy_merge_params({"events": "rich"})
            try:
                with closing(self._client.send(request, stream=True)) as answer:
                    turn_id = self._opened(answer, turn_id)
                    for heard in read_events(answer.iter_lines()):
                        last_id = heard.event_id or last_id
                        tried = 0
                        if heard.content == END:
                            return
                        yield heard
            except httpx.HTTPError as error:
                if not turn_id or tried >= _CONNECTIONS_TRIED:
                    raise self._away(error) from error
            tried += 1
            if not turn_id or tried > _CONNECTIONS_TRIED:
                raise CommandFailed(f"the stream of {self.url} broke off and could not be resumed")
            time.sleep(0.2 * tried)

    @staticmethod
    def _opened(answer: httpx.Response, turn_id: str) -> str:
        if not answer.is_success:
            answer.read()
            raise _refused(answer)
        return str(answer.headers.get("x-turn-id", turn_id))

    def _away(self, error: httpx.HTTPError) -> CommandFailed:
        return CommandFailed(
            f"can't reach Signalbox at {self.url} ({error or type(error).__name__})",
            remedy="start it with `signalbox up`, or say where it is with --url",
            code=UNREACHABLE,
        )


def _refused(answer: httpx.Response) -> CommandFailed:
    """Tell a refusal: the sentence, each fault with its path, and the id that the logs carry."""
    where = f"{answer.request.method} {answer.request.url.path}"
    try:
        told = answer.json()
    except ValueError:
        return CommandFailed(f"{where} answered {answer.status_code}")
    faults = "".join(f"\n  {fault['path']}: {fault['message']}" for fault in told.get("fields") or ())
    return CommandFailed(
        f"{where} answered {answer.status_code}: {told.get('error', '')}{faults}",
        remedy=f"its logs carry {told['error_id']}" if told.get("error_id") else "",
    )
