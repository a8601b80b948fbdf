"""Scripted dialogues: YAML that people read, and the play that holds a running system to it.

A turn says what the person writes and what must come back; what it does not allow must not come:

    user        the message
    seeds       values that come beside it, by parameter name
    asks        the parameters that the question must name, no more and no fewer ([] for a question about none)
    calls       the calls as the API's own log must show them, in any order; without it none may go out
    knows       values that are known after a question, where the next call has others or there is none (`labelled.py`)
    buttons     the titles of the buttons under the reply, where it must have some
    says        fragments of the reply, in any case; never_says: fragments that it must not hold
    refused     true: the reply must tell that nobody can answer this
    language    the reply's language, where it is not the dialogue's

`{today+1}`, `{friday}`, `{week+7}`, `{year+1}` and `{today+2 15:00}` stand for days, years and moments (UTC) as seen
in Tallinn on the day of the run.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import yaml
from pydantic import BaseModel, ConfigDict

from schemas.endpoints import Language
from tests.acceptance.town_api import TownApi

TALLINN = ZoneInfo("Europe/Tallinn")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PLACE = re.compile(rf"\{{(today|week|year|{'|'.join(_DAYS)})([+-]\d+)?(?: (\d\d:\d\d(?::\d\d)?))?\}}")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Expected(_Strict):
    """One turn of a script."""

    user: str
    seeds: dict[str, Any] = {}
    asks: list[str] | None = None
    calls: list[dict[str, dict[str, Any]]] = []
    knows: dict[str, Any] = {}
    says: list[str] = []
    never_says: list[str] = []
    buttons: list[str] | None = None
    refused: bool = False
    language: Language | None = None


class Script(_Strict):
    """A dialogue, and the behaviour that it shows."""

    shows: str
    language: Language
    turns: list[Expected]


@dataclass
class Heard:
    """What came back for one message. `missing` is None unless a question was asked."""

    text: str = ""
    turn_id: str = ""
    missing: list[str] | None = None
    buttons: list[dict[str, Any]] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)


def read_script(file: Path, *, now: datetime) -> Script:
    """Read a dialogue, its days filled in. Raises pydantic's ValidationError for a key that is none of ours."""
    return Script.model_validate(_filled(yaml.safe_load(file.read_text(encoding="utf-8")), now.astimezone(TALLINN)))


def _filled(value: Any, now: datetime) -> Any:
    if isinstance(value, dict):
        return {key: _filled(one, now) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, now) for one in value]
    return _PLACE.sub(lambda found: _day(found, now), value) if isinstance(value, str) else value


def _day(found: re.Match[str], now: datetime) -> str:
    name, offset, clock = found[1], int(found[2] or 0), found[3]
    today = now.date()
    if name == "year":
        return str(today.year + offset)
    first = {"today": today, "week": today - timedelta(days=today.weekday())}.get(name) or _coming(name, today)
    day = first + timedelta(days=offset)
    if clock is None:
        return day.isoformat()
    moment = datetime.fromisoformat(f"{day.isoformat()} {clock}").replace(tzinfo=TALLINN)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _coming(name: str, today: date) -> date:
    return today + timedelta(days=(_DAYS.index(name) - today.weekday() - 1) % 7 + 1)


@dataclass
class Play:
    """One dialogue being held with a running system."""

    url: str
    chat_id: str
    api: TownApi
    script: Script

    def hold(self) -> None:
        """Say every turn, and check each reply. Raises AssertionError with the whole talk so far."""
        talk: list[str] = []
        asked = ""
        for expected in self.script.turns:
            before = len(self.api.seen)
            heard = self._say(expected)
            talk += [f"> {expected.user}", heard.text]
            faults = self._faults(expected, heard, self.api.seen[before:])
            if heard.missing is not None and heard.text == asked:
                faults.append("the same question twice in a row")
            asked = heard.text if heard.missing is not None else ""
            assert not faults, "\n".join([self.script.shows, *talk, "", *faults])

    def _say(self, expected: Expected) -> Heard:
        body: dict[str, Any] = {"chatId": self.chat_id, "message": expected.user, "authorId": "tester"}
        if expected.seeds:
            body["seededParams"] = expected.seeds
        with httpx.Client(base_url=self.url, timeout=60, trust_env=False) as client:
            with client.stream("POST", "/orchestrate/stream?events=rich", json=body) as response:
                heard = _read(response.read().decode())
                heard.turn_id = response.headers["x-turn-id"]
            heard.state = client.get(f"/turns/{heard.turn_id}").json()
        return heard

    def _faults(self, expected: Expected, heard: Heard, seen: list[Any]) -> list[str]:
        faults: list[str] = []
        asked = None if heard.missing is None else sorted(heard.missing)
        if asked != (None if expected.asks is None else sorted(expected.asks)):
            faults.append(f"asked for {asked}, wanted {expected.asks}")
        called = sorted(_call(one.endpoint, one.values) for one in seen)
        wanted = sorted(_call(name, values) for call in expected.calls for name, values in call.items())
        if called != wanted:
            faults.append(f"called {called}\nwanted {wanted}")
        said = heard.text.casefold().replace("\u00a0", " ")
        faults += [f"did not say {one!r}" for one in expected.says if one.casefold() not in said]
        faults += [f"said {one!r}" for one in expected.never_says if one.casefold() in said]
        titles = [button["title"] for button in heard.buttons]
        if expected.buttons is not None and titles != expected.buttons:
            faults.append(f"offered {titles}, wanted {expected.buttons}")
        if (heard.state["layer"] == "ood") != expected.refused:
            faults.append(f"answered by {heard.state['layer']}")
        language = expected.language or self.script.language
        if heard.state["language"] != language:
            faults.append(f"spoke {heard.state['language']}, wanted {language}")
        if heard.state["phase"] not in ("done", "waiting_for_user"):
            faults.append(f"the turn ended {heard.state['phase']}")
        return faults


def _call(endpoint: str, values: dict[str, Any]) -> str:
    return f"{endpoint} {json.dumps(values, ensure_ascii=False, sort_keys=True)}"


def _read(body: str) -> Heard:
    """Read a rich stream to its END."""
    heard = Heard()
    contents: list[str] = []
    for block in body.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        data = json.loads(lines["data"]) if "data" in lines else {}
        match lines.get("event"):
            case "question":
                heard.missing = data["missing"]
            case "replace":
                contents = [data["content"]]
            case None if data:
                contents.append(data["payload"]["content"])
                heard.buttons += data["payload"].get("buttons") or []
            case _:
                pass
    assert contents[-1:] == ["END"], f"the stream ended without END: {body!r}"
    heard.text = "".join(contents[:-1])
    return heard
