"""One table of odd endpoints, over HTTP and by the command: a clear error or a sane result, and nothing lost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis.asyncio as aioredis

from tests.integration.ops.conftest import Cli


@dataclass(frozen=True, kw_only=True)
class Odd:
    """What differs from a good endpoint; `fault` names the refused field, "" when it is taken as it is."""

    change: dict[str, Any]
    fault: str = ""


ODD = {
    "unknown_type": Odd(change={"params": [{"name": "a", "type": "strng"}]}, fault="params.0.type"),
    "duplicate_names": Odd(change={"params": [{"name": "a"}, {"name": "a"}]}, fault="params"),
    "two_megabytes": Odd(change={"description": "x" * 2_000_000}, fault="description"),
    "control_characters": Odd(change={"description": "a\x00b"}, fault="description"),
    "emoji": Odd(change={"description": "Pühad 🎉 ja 👩‍👩‍👧"}),
    "right_to_left": Odd(change={"description": "\u202eחגים ומועדים\u202c עطلة"}),
    "url_without_scheme": Odd(change={"url": "api.example.ee/holidays"}, fault="url"),
    "method_trace": Odd(change={"method": "TRACE"}, fault="method"),
    "good": Odd(change={}),
}
REFUSED = {name for name, odd in ODD.items() if odd.fault}


def entry(name: str) -> dict[str, Any]:
    good = {"endpointId": name, "name": name, "description": "List holidays.", "url": "https://api.example.ee/h"}
    return good | ODD[name].change


@pytest.mark.usefixtures("clean_redis")
async def test_over_http_each_is_refused_by_its_field_or_kept_as_it_is(door: str) -> None:
    async with httpx.AsyncClient(base_url=door) as client:
        answers = {name: await client.post("/api-tools", json=entry(name)) for name in ODD}
        kept = {name: (await client.get(f"/api-tools/{name}")) for name in ODD}

    for name, odd in ODD.items():
        told = answers[name].json()
        if not odd.fault:
            assert answers[name].status_code == 202, (name, told)
            assert kept[name].json()["endpoint"]["description"] == entry(name)["description"]
        else:
            assert answers[name].status_code in (413, 422), (name, told)
            assert answers[name].status_code == 413 or odd.fault in [one["path"] for one in told["fields"]]
            assert told["error"]
            assert kept[name].status_code == 404


async def test_by_the_command_the_good_ones_are_registered_and_the_bad_ones_told(
    door: str, cli: Cli, tmp_path: Path, clean_redis: aioredis.Redis
) -> None:
    file = tmp_path / "odd.json"
    file.write_text(json.dumps([entry(name) for name in ODD]), encoding="utf-8")

    done = cli("index", str(file), "--url", door, "--json")

    assert await clean_redis.ping()
    told = {one["name"]: one for one in json.loads(done.stdout)}
    assert done.returncode == 1
    assert {name for name, one in told.items() if not one["ok"]} == REFUSED
    assert set(told) == set(ODD)
    for name in REFUSED - {"two_megabytes"}:
        assert ODD[name].fault in told[name]["reason"]
    assert told["two_megabytes"]["reason"]
    assert "Traceback" not in done.stderr


def _document(name: str) -> dict[str, Any]:
    answer = {"responses": {"200": {"description": "fine"}}}
    node = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/components/schemas/Node"}}}
    loop = {"$ref": "#/components/schemas/B"}
    body = {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}}}
    paths: dict[str, Any] = {"/tree": {"post": answer | body}}
    if name == "five_megabytes":
        told = {"summary": "Find a thing", "description": "x" * 2_000}
        paths |= {f"/a{n}": {"get": {**answer, **told, "operationId": f"op{n}"}} for n in range(2_500)}
    schemas = {"Node": node, "A": loop, "B": {"$ref": "#/components/schemas/A"}}
    if name == "only_circles":
        parameter = {"name": "q", "in": "query", "schema": {"$ref": "#/components/schemas/A"}}
        paths["/circle"] = {"get": {**answer, "parameters": [parameter]}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Odd", "version": "1"},
        "servers": [{"url": "https://api.example.ee"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }


@pytest.mark.parametrize(("name", "taken"), [("cyclic", 1), ("only_circles", 1), ("five_megabytes", 2_501)])
def test_a_document_that_is_cyclic_or_huge_is_read_to_its_end(name: str, taken: int, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.json"
    file.write_text(json.dumps(_document(name)), encoding="utf-8")

    done = cli("import", str(file), "--dry-run", "--json")

    told = json.loads(done.stdout)
    states = [one["state"] for one in told["operations"]]
    assert len(states) == taken + (name == "only_circles")
    assert sum(state != "refused" for state in states) >= taken, told["operations"][-1]
    assert "Traceback" not in done.stderr
