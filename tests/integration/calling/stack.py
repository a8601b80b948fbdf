"""A whole system whose endpoints need secrets, behind a server that misbehaves: what it is told, and its endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from ops.local.stack import Stack
from tests.integration.calling.misbehaving import Misbehaving

# Each has a core of plain letters, so that no cutting or encoding of the rest hides it.
SECRETS = {
    "SECRET_BEARER": "b3arerQ7xK9vT2mW/+=õ",
    "SECRET_BASIC": "bas1cPassR4nd0mZzQ&:?",
    "SECRET_HEADER": "h3aderK3yLmN0pQrS",
    "SECRET_QUERY": "qu3ryK3y U8wXyZa1b+/",
    "SECRET_COOKIE": "c00kieK3yJ5tGhBn;=",
    "SECRET_OAUTH": "0authCl1entS3cretVv/",
}
ACCESS_TOKEN = "access-token-3600-"  # noqa: S105 - how the server's tokens begin


@dataclass(frozen=True)
class Asked:
    """An endpoint by what people say to reach it: its subject, where it lives, and how it is authenticated."""

    name: str
    subject: str
    path: str
    auth: dict[str, Any]
    method: str = "GET"

    @property
    def question(self) -> str:
        return f"What is the {self.subject}?"


def with_secrets(server: Misbehaving) -> tuple[Asked, ...]:
    """Build endpoints of every kind of authentication, some of which fail in every way there is."""
    oauth = {"kind": "client_credentials", "clientId": "signalbox", "clientSecret": "env:SECRET_OAUTH"}
    key = {"kind": "api_key", "name": "k"}
    return (
        Asked("river", "water level of the river", "/fine/river", {"kind": "bearer", "token": "env:SECRET_BEARER"}),
        Asked("library", "number of books in the library", "/echo-error/library", _basic()),
        Asked("parking", "number of free parking places", "/status/500", key | {"value": "env:SECRET_HEADER"}),
        Asked(
            "football",
            "score of the football match",
            "/echo-error/football",
            key | {"placement": "query", "value": "env:SECRET_QUERY"},
        ),
        Asked(
            "cinema",
            "film of the evening in the cinema",
            "/reset",
            key | {"placement": "cookie", "value": "env:SECRET_COOKIE"},
            method="POST",
        ),
        Asked("snow", "snow depth on the ski slope", "/fine/snow", oauth | {"tokenUrl": server.url("/token/3600")}),
        Asked(
            "ferry",
            "departure time of the ferry",
            "/fine/ferry",
            oauth | {"tokenUrl": server.url("/token/refused"), "clientIn": "body"},
        ),
        Asked("museum", "ticket price of the museum", "/redirect", {"kind": "bearer", "token": "env:SECRET_BEARER"}),
    )


def _basic() -> dict[str, str]:
    return {"kind": "basic", "username": "signalbox", "password": "env:SECRET_BASIC"}


def register(stack: Stack, server: Misbehaving, asked: Asked, **more: Any) -> None:
    """Register an endpoint and wait until it is found."""
    body = {
        "name": f"get_{asked.name}",
        "description": f"Tells the {asked.subject}.",
        "titles": {"en": asked.subject},
        "examples": {"en": [asked.question, asked.subject]},
        "method": asked.method,
        "url": server.url(asked.path),
        "auth": asked.auth,
        **more,
    }
    reply = httpx.post(f"{stack.url}/api-tools?wait=true", json=body, timeout=30, trust_env=False)
    assert reply.status_code in (200, 201), reply.text
