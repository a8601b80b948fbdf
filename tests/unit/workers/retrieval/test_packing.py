"""An endpoint comes out of the mirror's memory as it went in."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from schemas.endpoints import Endpoint, ParamSpec
from workers.retrieval.mirror import _pack, _unpack

OPEN = Endpoint(endpoint_id="one", name="get_one", description="One.", url="https://api.example/one")
AUTH = TypeAdapter(Endpoint.model_fields["auth"].annotation)


@pytest.mark.parametrize(
    "auth",
    [
        {"kind": "none"},
        {"kind": "user_token"},
        {"kind": "bearer", "token": "env:TOKEN"},
        {"kind": "basic", "username": "u", "password": "env:PASSWORD"},
        {"kind": "api_key", "name": "X-Key", "value": "env:KEY"},
        {
            "kind": "client_credentials",
            "token_url": "https://auth.example/token",
            "client_id": "c",
            "client_secret": "env:SECRET",
        },
    ],
)
def test_every_kind_of_access_is_kept(auth: dict[str, str]) -> None:
    endpoint = OPEN.model_copy(update={"auth": AUTH.validate_python(auth)})

    assert _unpack(_pack(endpoint)) == endpoint


def test_parts_that_are_all_defaults_are_kept() -> None:
    endpoint = OPEN.model_copy(update={"params": (ParamSpec(name="a"),), "headers": {"X-A": "b"}, "version": 7})

    assert _unpack(_pack(endpoint)) == endpoint
