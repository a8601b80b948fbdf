"""The demo API as an operator starts it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from starlette.routing import Route

from ops.demo.api import create_app
from tests.conftest import free_port


def test_the_module_serves_on_the_port_it_is_given(repository: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen([sys.executable, "-m", "ops.demo.api", "--port", str(port)], cwd=repository) as server:
        try:
            tax = wait_for(f"{url}/vehicle-tax?regNr=123ABC&calculationYear=2026")
        finally:
            server.terminate()

    assert tax.json()["regNr"] == "123ABC"


def wait_for(url: str) -> httpx.Response:
    deadline = time.monotonic() + 20
    while True:
        try:
            return httpx.get(url, trust_env=False)
        except httpx.ConnectError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_fault_comes_as_problem_details(demo_url: str) -> None:
    response = httpx.get(f"{demo_url}/vehicle-tax", trust_env=False)

    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert [fault["field"] for fault in response.json()["errors"]] == ["regNr", "calculationYear"]


def test_a_body_that_is_no_json_object_is_refused(demo_url: str) -> None:
    for content in (b"", b"[1]", b"{", b"[" * 60_000):
        response = httpx.post(f"{demo_url}/library/renewals", content=content, trust_env=False)
        assert response.status_code == 400


ODD = (
    "",
    " ",
    "0",
    "-1",
    "9" * 300,
    "õ" * 500,
    "\x00",
    "2026-02-30",
    "9999-12-31",
    "0001-01-01",
    "NaN",
    "٣٢١",
    "'; --",
)
NAMED = "countryIsoCode validFrom validTo start end regNr calculationYear startDate endDate address amount fromCurrency"
ALSO_NAMED = "toCurrency date city query reference from to cardNumber"
PATHS = [route.path for route in create_app().routes if isinstance(route, Route) and "GET" in (route.methods or ())]


@pytest.mark.parametrize("path", PATHS)
def test_odd_input_never_breaks_the_api(demo_url: str, path: str) -> None:
    names = [*NAMED.split(), *ALSO_NAMED.split()]

    statuses = {
        value: httpx.get(demo_url + path, params=dict.fromkeys(names, value), trust_env=False).status_code
        for value in ODD
    }

    assert {value: status for value, status in statuses.items() if status >= 500} == {}
