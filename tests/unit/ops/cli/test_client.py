from __future__ import annotations

import httpx
import pytest

from ops.cli.client import Shim, read_events
from ops.cli.screen import UNREACHABLE, CommandFailed
from ops.local.ports import free_port

FRAME = 'data: {"chatId":"c","payload":{"content":"%s"},"timestamp":"1","sentTo":[]}'


def test_an_event_has_its_name_its_id_and_its_data() -> None:
    lines = ["event: phase", 'data: {"phase": "calling"}', "", "id: 4-0", FRAME % "tere", ""]

    phase, frame = read_events(iter(lines))

    assert (phase.name, phase.event_id, phase.data) == ("phase", "", {"phase": "calling"})
    assert (phase.content, phase.buttons) == ("", [])
    assert (frame.name, frame.event_id, frame.content, frame.buttons) == ("", "4-0", "tere", [])


def test_comments_are_left_out_and_a_cut_off_event_is_not_given() -> None:
    lines = [": ping", "", FRAME % "one", "", FRAME % "cut off"]

    assert [heard.content for heard in read_events(iter(lines))] == ["one"]


def test_buttons_are_heard() -> None:
    lines = ['data: {"payload": {"content": "", "buttons": [{"title": "A", "payload": "#a"}]}}', ""]

    (heard,) = read_events(iter(lines))

    assert heard.buttons == [{"title": "A", "payload": "#a"}]


def test_a_door_that_nobody_opens_is_told_with_a_remedy() -> None:
    with pytest.raises(CommandFailed) as failure:
        Shim(f"http://127.0.0.1:{free_port()}").request("GET", "/healthz")

    assert failure.value.code == UNREACHABLE
    assert "can't reach Signalbox" in failure.value.problem
    assert "signalbox up" in failure.value.remedy


def _shim(*answers: httpx.Response) -> tuple[Shim, list[httpx.Request]]:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return answers[len(seen) - 1]

    shim = Shim("http://door")
    shim._client = httpx.Client(base_url="http://door", transport=httpx.MockTransport(answer))
    return shim, seen


def _stream(text: str) -> httpx.Response:
    return httpx.Response(200, headers={"x-turn-id": "t-1"}, text=text)


def test_a_stream_that_breaks_off_is_resumed_after_the_last_event_that_arrived() -> None:
    shim, seen = _shim(
        _stream(f"id: 1-0\n{FRAME % 'one '}\n\nid: 2-0\n{FRAME % 'cut'}"),
        _stream(f"id: 2-0\n{FRAME % 'two'}\n\nid: 3-0\n{FRAME % 'END'}\n\n"),
    )

    heard = [one.content for one in shim.stream({"chatId": "c", "message": "m"})]

    assert heard == ["one ", "two"]
    assert [request.url.path for request in seen] == ["/orchestrate/stream", "/turns/t-1/events"]
    assert seen[1].headers["last-event-id"] == "1-0"
    assert all(request.url.params["events"] == "rich" for request in seen)


def test_a_stream_that_keeps_breaking_off_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ops.cli.client.time.sleep", lambda _: None)
    shim, seen = _shim(*(_stream("") for _ in range(10)))

    with pytest.raises(CommandFailed, match="broke off"):
        list(shim.stream({"chatId": "c", "message": "m"}))

    assert len(seen) == 6


def test_a_refusal_is_told_with_every_fault_and_the_id_in_the_logs() -> None:
    body = {"error": "I could not read that.", "error_id": "ERR-1", "type": "invalid"}
    faults = {"fields": [{"path": "params.0.type", "message": "must be one of string, date"}]}
    shim, _ = _shim(httpx.Response(422, json=body | faults))

    with pytest.raises(CommandFailed) as failure:
        shim.request("POST", "/api-tools", json={})

    assert "params.0.type: must be one of string, date" in failure.value.problem
    assert "ERR-1" in failure.value.remedy
