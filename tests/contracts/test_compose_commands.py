"""Every command of the compose file and of the images is one that the installed programs accept."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contracts.sources import REPOSITORY

SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8"))[
    "services"
]


def _commands() -> dict[str, list[str]]:
    found = {name: service["command"] for name, service in SERVICES.items() if "build" in service}
    for dockerfile in (REPOSITORY / "ops/images").glob("*.Dockerfile"):
        line = re.search(r"^CMD (\[.+\])$", dockerfile.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert line, dockerfile
        found[dockerfile.name] = json.loads(line[1])
    return found


COMMANDS = _commands()


def _running(program: str, sub: str = "") -> list[str]:
    return sorted(name for name, words in COMMANDS.items() if words[0] == program and (not sub or sub in words))


def test_only_programs_that_are_looked_at_here_are_run() -> None:
    assert {words[0] for words in COMMANDS.values()} == {"uvicorn", "celery"}
    assert all({"worker", "beat", "flower"} & set(COMMANDS[name]) for name in _running("celery"))


@pytest.mark.parametrize("name", [*_running("celery", "worker"), *_running("celery", "beat")])
def test_celery_accepts_the_command_line(name: str) -> None:
    """Celery's own parser reads it (an unknown option raises); the command itself is not run."""
    from celery.bin.celery import celery

    words = COMMANDS[name][1:]
    sub = next(word for word in words if word in ("worker", "beat"))
    context = celery.make_context("celery", words, resilient_parsing=False)
    context.obj = None
    command = celery.commands[sub]
    parsed, rest, _ = command.make_parser(context).parse_args(words[words.index(sub) + 1 :])

    assert rest == []
    assert parsed


@pytest.mark.parametrize("name", _running("celery"))
def test_the_celery_app_of_a_command_exists(name: str) -> None:
    module = importlib.import_module(COMMANDS[name][COMMANDS[name].index("--app") + 1])

    assert module.app.main == "signalbox"


@pytest.mark.parametrize("name", _running("uvicorn"))
def test_uvicorn_accepts_the_command_line_and_its_factory_exists(name: str) -> None:
    from uvicorn.main import main

    context = main.make_context("uvicorn", COMMANDS[name][1:])

    assert context.params["factory"]
    module, _, attribute = context.params["app"].partition(":")
    assert callable(getattr(importlib.import_module(module), attribute))


def test_flower_knows_every_option_that_it_is_given() -> None:
    from flower.options import options

    text = (REPOSITORY / "ops/flower/flowerconfig.py").read_text(encoding="utf-8")
    given = [
        target.id
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    flags = [
        word[2:].partition("=")[0]
        for name in _running("celery", "flower")
        for word in COMMANDS[name]
        if word.startswith("--") and word != "--app"
    ]
    from_environment = [
        key.removeprefix("FLOWER_").lower()
        for key in SERVICES["flower"]["environment"]
        if key.startswith("FLOWER_") and key != "FLOWER_UNAUTHENTICATED_API"
    ]

    assert given
    assert flags
    assert [name for name in (*given, *flags, *from_environment) if name not in options] == []


def test_flower_opens_nothing_without_a_password() -> None:
    environment = SERVICES["flower"]["environment"]

    assert environment["FLOWER_BASIC_AUTH"].startswith("${FLOWER_BASIC_AUTH:?")
    assert environment["FLOWER_UNAUTHENTICATED_API"] == "false"


def test_the_flower_options_stand_where_the_command_looks_for_them() -> None:
    text = (REPOSITORY / "ops/images/light.Dockerfile").read_text(encoding="utf-8")
    wanted = next(word for word in COMMANDS["flower"] if word.startswith("--conf=")).removeprefix("--conf=")

    assert f"COPY ops/flower/flowerconfig.py {wanted}" in text


@pytest.mark.parametrize(
    "name",
    sorted(name for name, s in SERVICES.items() if s.get("healthcheck", {}).get("test", [""])[:2] == ["CMD", "python"]),
)
def test_a_health_check_in_python_asks_the_port_that_its_service_listens_on(name: str) -> None:
    code = SERVICES[name]["healthcheck"]["test"][3]
    compile(code, name, "exec")
    port = re.search(r"127\.0\.0\.1:(\d+)/", code)

    assert port
    told = [
        *SERVICES[name]["command"],
        (REPOSITORY / "ops/flower/flowerconfig.py").read_text(encoding="utf-8") if name == "flower" else "",
    ]
    assert port[1] in " ".join(told)


def test_the_health_check_of_the_workers_is_a_celery_command() -> None:
    shell = SERVICES["calling"]["healthcheck"]["test"][1]
    celery = Path(sys.executable).with_name("celery")

    shown = subprocess.run(
        [celery, "--app", "tasks.app", "inspect", "--help"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )

    assert shell.startswith("celery --app tasks.app inspect ping --destination celery@$$HOSTNAME")
    assert "--destination" in shown.stdout
    assert "--timeout" in shown.stdout
