"""Adds an endpoint's credentials to a request that is ready to go."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from pydantic import SecretStr

from schemas.auth import ApiKeyAuth, BasicAuth, BearerAuth, ClientCredentialsAuth, NoAuth, UserTokenAuth
from schemas.endpoints import Endpoint
from workers.calling.egress import AllowList, plain_host
from workers.calling.headers import with_cookie, with_header
from workers.calling.prepared import CertificateFiles, PreparedRequest
from workers.calling.tokens import TokenStore
from workers.calling.vault import SecretMissing, Vault

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, kw_only=True)
class Signer:
    """Knows the secrets. What it returns is sent and dropped; nothing of it is logged or stored."""

    vault: Vault
    tokens: TokenStore
    user_token_hosts: AllowList

    async def sign(
        self, request: PreparedRequest, endpoint: Endpoint, *, user_token: SecretStr | None
    ) -> PreparedRequest:
        """Return the request with the endpoint's credentials and client certificate.

        Raises:
            SecretMissing: a reference leads to nothing, or the person's token did not come, or may not go to this host.
            TokenUnavailable: the authority gave no token.
            CannotPlace: a secret that no header may hold.
        """
        host = urlsplit(request.url).hostname or ""
        signed = await self._authenticated(request, endpoint, host=host, user_token=user_token)
        return replace(signed, certificate=await self._certificate(endpoint, host))

    async def _authenticated(
        self, request: PreparedRequest, endpoint: Endpoint, *, host: str, user_token: SecretStr | None
    ) -> PreparedRequest:
        match endpoint.auth:
            case NoAuth():
                return request
            case BearerAuth(token=reference):
                return bearing(request, (await self.vault.read(reference, host=host)).get_secret_value())
            case BasicAuth(username=username, password=reference):
                password = (await self.vault.read(reference, host=host)).get_secret_value()
                return with_basic(request, username, password)
            case ApiKeyAuth() as auth:
                return with_key(request, auth, (await self.vault.read(auth.value, host=host)).get_secret_value())
            case ClientCredentialsAuth() as auth:
                # The token is worth what the secret is: it goes nowhere that the secret may not go.
                self.vault.check_binding(auth.client_secret, host)
                return bearing(request, (await self.tokens.get(auth)).get_secret_value())
            case UserTokenAuth():
                self._check_listed(request.url)
                if user_token is None or not user_token.get_secret_value():
                    raise SecretMissing("user token", "the person brought none")
                return bearing(request, user_token.get_secret_value())

    async def forget(self, endpoint: Endpoint, request: PreparedRequest) -> bool:
        """Drop the access token with which the API refused this request; False where there can be no other."""
        if not isinstance(endpoint.auth, ClientCredentialsAuth):
            return False
        renewable = [await self.tokens.forget(endpoint.auth, secret) for secret in request.secrets]
        return any(renewable)

    def _check_listed(self, url: str) -> None:
        split = urlsplit(url)
        host = plain_host(split.hostname or "")
        if not self.user_token_hosts.lists(host, split.port or _PORTS.get(split.scheme, 0)):
            raise SecretMissing("user token", f"{host} is not listed for people's own tokens")

    async def _certificate(self, endpoint: Endpoint, host: str) -> CertificateFiles | None:
        asked = endpoint.client_certificate
        if asked is None:
            return None
        certificate = await self.vault.file(asked.certificate, host=host)
        return certificate, None if asked.key is None else await self.vault.file(asked.key, host=host)


def bearing(request: PreparedRequest, token: str) -> PreparedRequest:
    """Add a bearer token (RFC 6750 section 2.1)."""
    headers = with_header(request.headers, "Authorization", f"Bearer {token}")
    return replace(request, headers=headers, secrets=request.secrets | {token})


def with_basic(request: PreparedRequest, username: str, password: str) -> PreparedRequest:
    """Add a name and a password, in UTF-8 (RFC 7617 section 2.1)."""
    pair = base64.b64encode(f"{username}:{password}".encode()).decode()
    headers = with_header(request.headers, "Authorization", f"Basic {pair}")
    return replace(request, headers=headers, secrets=request.secrets | {password, pair})


def with_key(request: PreparedRequest, auth: ApiKeyAuth, key: str) -> PreparedRequest:
    """Add a key where the API wants it; it takes the place of anything else of its name."""
    secrets = request.secrets | {key}
    match auth.placement:
        case "header":
            return replace(request, headers=with_header(request.headers, auth.name, key), secrets=secrets)
        case "query":
            others = tuple(pair for pair in request.query if pair[0] != auth.name)
            return replace(request, query=(*others, (auth.name, key)), secrets=secrets)
        case "cookie":
            return replace(request, headers=with_cookie(request.headers, auth.name, key), secrets=secrets)
