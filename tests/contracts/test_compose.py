"""The compose file: valid by the Compose specification, and everything it names exists.

`compose-spec.schema.json` is the specification's JSON Schema (github.com/compose-spec/compose-spec, Apache-2.0), as the
npm package dclint 3.1.0 carries it.
"""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
import yaml

from tests.contracts.sources import REPOSITORY

COMPOSE: dict[str, Any] = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
# Beat listens on nothing; its container ends when it dies.
WITHOUT_HEALTH_CHECK = {"beat"}


def test_the_file_is_valid_by_the_compose_specification() -> None:
    schema = json.loads((REPOSITORY / "tests/contracts/compose-spec.schema.json").read_text(encoding="utf-8"))

    faults = [
        f"{'.'.join(map(str, fault.absolute_path))}: {fault.message}"
        for fault in jsonschema.Draft7Validator(schema).iter_errors(COMPOSE)
    ]

    assert faults == []


def test_the_validator_would_see_a_wrong_key() -> None:
    schema = json.loads((REPOSITORY / "tests/contracts/compose-spec.schema.json").read_text(encoding="utf-8"))
    wrong = {"services": {"redis": {"image": "redis", "comand": ["redis-server"]}}}

    assert not jsonschema.Draft7Validator(schema).is_valid(wrong)


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_service_restarts_is_bounded_and_has_no_more_rights_than_it_needs(name: str) -> None:
    service = SERVICES[name]

    assert service["restart"] == "unless-stopped"
    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory"}
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert "privileged" not in service


@pytest.mark.parametrize("name", sorted(set(SERVICES) - WITHOUT_HEALTH_CHECK))
def test_a_service_has_a_health_check(name: str) -> None:
    check = SERVICES[name]["healthcheck"]

    assert check["test"][0] in ("CMD", "CMD-SHELL")
    assert {"interval", "timeout", "retries"} <= set(check)


@pytest.mark.parametrize("name", sorted(name for name, service in SERVICES.items() if "ports" in service))
def test_ports_are_published_on_loopback_only(name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name]["ports"])


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_what_a_service_waits_for_and_mounts_exists(name: str) -> None:
    service = SERVICES[name]

    assert set(service.get("depends_on", {})) <= set(SERVICES)
    for volume in service.get("volumes", ()):
        source = volume.split(":")[0]
        if source.startswith("."):
            assert (REPOSITORY / source).is_file(), source
        else:
            assert source in COMPOSE["volumes"]


@pytest.mark.parametrize("name", sorted(OURS))
def test_an_image_of_ours_is_built_from_paths_that_exist_and_runs_as_nobody_special(name: str) -> None:
    text = (REPOSITORY / OURS[name]["build"]["dockerfile"]).read_text(encoding="utf-8")
    copied = [
        path for line in re.findall(r"^COPY (?!--from)(.+)$", text, flags=re.MULTILINE) for path in line.split()[:-1]
    ]

    assert copied
    assert [path for path in copied if not (REPOSITORY / path).exists()] == []
    assert re.search(r"^USER 10001$", text, flags=re.MULTILINE)
    assert text.count("FROM python:3.11-slim") == 2


def test_the_light_image_carries_no_model() -> None:
    text = (REPOSITORY / "ops/images/light.Dockerfile").read_text(encoding="utf-8")

    assert "--extra" not in text


def test_the_images_hold_every_package_of_the_project() -> None:
    for dockerfile in (REPOSITORY / "ops/images").glob("*.Dockerfile"):
        text = dockerfile.read_text(encoding="utf-8")
        assert all(f"COPY {name} {name}" in text for name in ("schemas", "workers", "tasks", "api_shim", "ops"))


def test_every_alert_links_a_runbook_that_exists() -> None:
    alerts = yaml.safe_load((REPOSITORY / "ops/prometheus/alerts.yml").read_text(encoding="utf-8"))
    rules = [rule for group in alerts["groups"] for rule in group["rules"]]

    assert rules
    assert [rule["alert"] for rule in rules if not (REPOSITORY / rule["annotations"]["runbook"]).is_file()] == []


def test_alerts_and_dashboard_ask_for_metrics_that_exist() -> None:
    from prometheus_client import REGISTRY

    import workers.runtime.telemetry  # noqa: F401 - declares the workers' metrics
    from api_shim.metrics import DoorMetrics

    known = {metric.name for source in (REGISTRY, DoorMetrics().registry) for metric in source.collect()}
    texts = [
        (REPOSITORY / path).read_text(encoding="utf-8")
        for path in ("ops/prometheus/alerts.yml", "ops/grafana/signalbox.json")
    ]
    asked = {name for text in texts for name in re.findall(r"\bsignalbox_[a-z_]+", text)}

    assert asked
    assert {re.sub(r"_(bucket|total|count|sum)$", "", name) for name in asked} - known == set()
