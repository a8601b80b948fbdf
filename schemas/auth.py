"""How an endpoint is authenticated. A secret is never written here: only where the calling worker finds it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Frozen

SecretRef = Annotated[str, Field(pattern=r"^(env:[A-Za-z_][A-Za-z0-9_]*|file:[^\s\x00]+)$", max_length=500)]
"""`env:NAME` is a variable of the calling worker, `file:NAME` a file in its folder of secrets."""
FileRef = Annotated[str, Field(pattern=r"^file:[^\s\x00]+$", max_length=500)]
_Token = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", max_length=200)]


class NoAuth(Frozen):
    """The endpoint is open to all."""

    kind: Literal["none"] = "none"


class BearerAuth(Frozen):
    """`Authorization: Bearer …` (RFC 6750)."""

    kind: Literal["bearer"] = "bearer"
    token: SecretRef


class BasicAuth(Frozen):
    """`Authorization: Basic …` (RFC 7617); the name is no secret."""

    kind: Literal["basic"] = "basic"
    username: str = Field(min_length=1, max_length=200, pattern=r"^[^:\x00-\x1f\x7f]+$")
    password: SecretRef


class ApiKeyAuth(Frozen):
    """A key under a name of the API's own."""

    kind: Literal["api_key"] = "api_key"
    name: _Token
    placement: Literal["header", "query", "cookie"] = "header"
    value: SecretRef


class ClientCredentialsAuth(Frozen):
    """OAuth2 client credentials (RFC 6749 section 4.4); the worker fetches a token and keeps it while it lasts."""

    kind: Literal["client_credentials"] = "client_credentials"
    token_url: str = Field(pattern=r"^https?://[^\s]+$", max_length=2_000)
    client_id: str = Field(min_length=1, max_length=500)
    client_secret: SecretRef
    scope: str = Field(default="", max_length=2_000)
    audience: str = Field(default="", max_length=2_000)
    client_in: Literal["header", "body"] = "header"


class UserTokenAuth(Frozen):
    """The person's own token, passed on to hosts that the operator lists and to no other."""

    kind: Literal["user_token"] = "user_token"


class ClientCertificate(Frozen):
    """A TLS client certificate: PEM files, the key in the same file or in one of its own."""

    certificate: FileRef
    key: FileRef | None = None


Auth = Annotated[
    NoAuth | BearerAuth | BasicAuth | ApiKeyAuth | ClientCredentialsAuth | UserTokenAuth,
    Field(discriminator="kind"),
]
