"""A chat frontend as the tests need one: says something, reads the frames to END, keeps every id."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpx


@dataclass(frozen=True)
class Reply:
    """What came back for one message. `text` is the concatenation of the content frames before END."""

    text: str
    turn_id: str
    contents: tuple[str, ...]
    ids: tuple[str, ...]
    buttons: tuple[dict[str, Any], ...] = ()


def parse_frames(body: str) -> list[tuple[str, dict[str, Any]]]:
    """Split an SSE body into (id, data) pairs; comments and named events are left out."""
    frames = []
    for block in body.split("\n\n"):
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            if line and not line.startswith(":"):
                name, _, value = line.partition(":")
                fields[name] = value.removeprefix(" ")
        if "data" in fields and "event" not in fields:
            frames.append((fields.get("id", ""), json.loads(fields["data"])))
    return frames


@dataclass
class Chat:
    """One conversation over POST /orchestrate/stream."""

    url: str
    chat_id: str = field(default_factory=lambda: f"test-{uuid.uuid4()}")
    timeout_s: float = 90.0

    def say(self, message: str, **extra: object) -> Reply:
        body = {"chatId": self.chat_id, "message": message, "authorId": "tester", **extra}
        with (
            httpx.Client(timeout=self.timeout_s, trust_env=False) as client,
            client.stream("POST", f"{self.url}/orchestrate/stream", json=body) as response,
        ):
            text = response.read().decode()
            assert response.status_code == 200, text
            return read_reply(text, response.headers.get("x-turn-id", ""))


def read_reply(body: str, turn_id: str) -> Reply:
    frames = parse_frames(body)
    assert frames, f"no frames in {body!r}"
    assert frames[-1][1]["payload"]["content"] == "END", f"the stream ended without END: {body!r}"
    shown = [data["payload"] for _, data in frames[:-1]]
    return Reply(
        text="".join(payload["content"] for payload in shown),
        turn_id=turn_id,
        contents=tuple(payload["content"] for payload in shown),
        ids=tuple(entry for entry, _ in frames if entry),
        buttons=tuple(button for payload in shown for button in payload.get("buttons") or ()),
    )
