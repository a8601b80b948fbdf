"""Sources through real processes: beat fires, a worker reads, the registry follows. Each test has its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.sources.conftest import Sources, entry
from workers.runtime.settings import inherited_environment

DAY = "1d"


def cli(sources: Sources, *words: str) -> tuple[int, dict[str, Any]]:
    """`signalbox sources …` as an operator runs it, beside the stack."""
    environment = inherited_environment() | {"SIGNALBOX_DATA_DIR": str(sources.stack.data_dir)}
    done = subprocess.run(
        [sys.executable, "-m", "ops.cli.main", "sources", *words, "--json"],
        cwd=Path(__file__).parents[3],
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout.strip() else {"error": done.stderr}


def spec(*names: str) -> dict[str, object]:
    paths = {f"/{name}": {"get": {"operationId": name, "summary": f"List {name}"}} for name in names}
    return {"openapi": "3.1.0", "info": {"title": "Trees"}, "servers": [{"url": "/v1"}], "paths": paths}


def test_beat_reads_what_is_due_and_later_only_what_changed(sources: Sources) -> None:
    names = ("get_library_hours", "get_bus_times", "get_pool_prices", "get_museum_events")
    sources.write("town.json", {"endpoints": [entry(name) for name in names]})
    sources.add(name="town", kind="rest", url=f"{sources.url}/town.json", every="1s")
    sources.wait_for(lambda: set(names) <= sources.listed().keys(), "beat has read the source")
    sources.wait_for(lambda: all(sources.listed()[name]["state"] == "indexed" for name in names), "all are indexed")
    before = {name: sources.listed()[name]["version"] for name in names}

    # One text changes, one endpoint vanishes, and the answer comes in Ruuter's envelope now.
    kept = [entry(name) for name in names[1:3]]
    sources.write("town.json", {"response": [entry(names[0], "Opening hours of the library."), *kept]})
    sources.wait_for(lambda: names[3] not in sources.listed(), "the one that vanished is gone")
    sources.wait_for(lambda: sources.listed()[names[0]]["state"] == "indexed", "the changed one is indexed")

    after = sources.listed()
    assert after[names[0]]["description"] == "Opening hours of the library."
    assert [after[name]["version"] - before[name] for name in names[:3]] == [1, 0, 0]
    assert sources.wait_for_state("town", "unchanged").added.count == 0


def test_the_list_tells_what_each_source_brought_and_what_is_wrong(sources: Sources) -> None:
    sources.write("trees.json", spec("list_trees"))
    sources.add(name="trees", kind="openapi", file="trees.json", server="https://trees.example.ee", every=DAY)
    sources.add(name="metadata", url="http://169.254.169.254/latest", every=DAY)
    sources.add(name="Bad Name", location="x")
    sources.wait_for_state("trees", "done")
    sources.wait_for_state("metadata", "failed")

    code, told = cli(sources, "list")

    by_name = {one["name"]: one for one in told["sources"]}
    assert (by_name["trees"]["endpoints"], by_name["trees"]["last_run"]["state"]) == (1, "done")
    assert sources.listed()["list_trees"]["url"] == "https://trees.example.ee/list_trees"
    # The guard stands before sources too, and a bad entry of the list stops no other.
    assert "not public" in by_name["metadata"]["last_run"]["reason"]
    assert any("name: String should match" in fault for fault in told["faults"])
    assert code == 1


def test_a_dry_run_changes_nothing_and_nothing_is_wiped_until_it_is_forced(sources: Sources) -> None:
    sources.write("bushes.json", spec("list_bushes"))
    sources.add(name="bushes", kind="openapi", file="bushes.json", server="https://bushes.example.ee", every=DAY)
    sources.wait_for_state("bushes", "done")

    sources.write("bushes.json", spec("list_oaks"))
    code, dry = cli(sources, "run", "bushes", "--dry-run")

    assert (dry["state"], dry["added"]["names"], dry["held_back"]["names"]) == ("done", ["list_oaks"], ["list_bushes"])
    assert code == 1  # something was held back
    assert "list_oaks" not in sources.listed()

    sources.write("bushes.json", spec())
    code, told = cli(sources, "run", "bushes")

    assert (code, told["held_back"]["names"], told["removed"]["count"]) == (1, ["list_bushes"], 0)
    assert "list_bushes" in sources.listed()

    code, told = cli(sources, "run", "bushes", "--force")

    assert (code, told["removed"]["names"]) == (0, ["list_bushes"])
    assert "list_bushes" not in sources.listed()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("broken", "{not json: [", "not readable"),
        ("no-list", '{"tools": []}', "a list of endpoints is expected"),
        ("empty", "", "a list of endpoints is expected"),
    ],
)
def test_a_source_that_breaks_leaves_everything_as_it_was(
    sources: Sources, name: str, content: str, reason: str
) -> None:
    sources.write(f"{name}.json", [entry(f"get_{name}")])
    sources.add(name=name, file=f"{name}.json", every="1s")
    sources.wait_for(lambda: f"get_{name}" in sources.listed(), "it is read")

    sources.write(f"{name}.json", content)

    assert reason in sources.wait_for_state(name, "failed").reason
    assert f"get_{name}" in sources.listed()


def test_a_bad_entry_stops_no_other_and_keeps_the_endpoint_that_was_good_before(sources: Sources) -> None:
    names = ("get_snow_depth", "get_ice_thickness")
    sources.write("winter.json", [entry(name) for name in names])
    sources.add(name="winter", file="winter.json", every="1s")
    sources.wait_for(lambda: set(names) <= sources.listed().keys(), "it is read")

    bad = [entry(names[1], method="TRACE"), entry("get_ferry_times", url="ferry")]
    sources.write("winter.json", [*bad, entry("get_ski_tracks")])
    sources.wait_for(lambda: "get_ski_tracks" in sources.listed(), "the good one is taken")
    sources.wait_for(lambda: names[0] not in sources.listed(), "the one that vanished is gone")

    assert sources.listed()[names[1]]["method"] == "GET"
    assert "get_ferry_times" not in sources.listed()


def test_an_unknown_source_and_a_foreign_redirect_are_told(sources: Sources) -> None:
    sources.add(name="away", url=f"{sources.url}/elsewhere", every=DAY)

    assert "leads to another host" in sources.wait_for_state("away", "failed").reason
    assert "no source of that name" in cli(sources, "run", "nobody")[1]["reason"]
