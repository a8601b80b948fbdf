"""httpx's transport, made to connect to checked addresses only, with our trust and an endpoint's own certificate."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any

import httpcore
import httpx

from workers.calling.egress import EgressGuard, HostUnknown
from workers.calling.prepared import CertificateFiles

_ADDRESSES_TRIED = 3


class CertificateUnusable(Exception):
    """The endpoint's client certificate can't be loaded."""


class _CheckedBackend(httpcore.AsyncNetworkBackend):
    """Connects to the very address that the guard has checked; TLS still names and verifies the host."""

    def __init__(self, guard: EgressGuard) -> None:
        self._guard = guard
        self._plain = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            addresses = (await self._guard.addresses(host, port))[:_ADDRESSES_TRIED]
        except HostUnknown as error:
            raise httpcore.ConnectError("the name does not resolve") from error
        share = None if timeout is None else timeout / len(addresses)
        for address in addresses[:-1]:
            try:
                return await self._plain.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._plain.connect_tcp(addresses[-1], port, share, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        await self._plain.sleep(seconds)


class _CheckedTransport(httpx.AsyncHTTPTransport):
    """httpx's transport over a pool that opens its connections through the guard."""

    def __init__(self, guard: EgressGuard, *, tls: ssl.SSLContext, max_connections: int) -> None:
        super().__init__(verify=tls, trust_env=False)
        # httpx has no public door for a network backend; a test proves that the guard stands in this one.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=max_connections,
            max_keepalive_connections=max_connections,
            keepalive_expiry=5.0,
            network_backend=_CheckedBackend(guard),
        )


@dataclass
class _Opened:
    http: httpx.AsyncClient
    written_at: float


class HttpClients:
    """One httpx client for everybody, and one for each client certificate: connections are never shared among them."""

    def __init__(
        self, guard: EgressGuard, *, max_connections: int, ca_file: str = "", tls: ssl.SSLContext | None = None
    ) -> None:
        self._guard = guard
        self._max_connections = max_connections
        self._ca_file = ca_file
        self._common = self._open(tls or self._trust())
        self._own: dict[CertificateFiles, _Opened] = {}

    async def of(self, certificate: CertificateFiles | None) -> httpx.AsyncClient:
        """Return the client that presents the certificate; a renewed file is read again. Raises CertificateUnusable."""
        if certificate is None:
            return self._common
        try:
            written_at = _written_at(certificate)
            opened = self._own.get(certificate)
            if opened is None or opened.written_at != written_at:
                tls = self._trust()
                tls.load_cert_chain(*certificate)
                self._own[certificate] = _Opened(self._open(tls), written_at)
        except OSError as error:  # ssl.SSLError is one
            raise CertificateUnusable(type(error).__name__) from error
        if opened is not None and opened is not self._own[certificate]:
            await opened.http.aclose()
        return self._own[certificate].http

    async def aclose(self) -> None:
        for http in (self._common, *(opened.http for opened in self._own.values())):
            await http.aclose()

    def _trust(self) -> ssl.SSLContext:
        """Trust the public authorities, and those of the operator's file."""
        context = httpx.create_ssl_context()
        if self._ca_file:
            context.load_verify_locations(cafile=self._ca_file)
        return context

    def _open(self, tls: ssl.SSLContext) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            transport=_CheckedTransport(self._guard, tls=tls, max_connections=self._max_connections),
            follow_redirects=False,
            # Cookies of one person's answer must not travel with the next person's call.
            cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
            trust_env=False,
            headers={
                "accept": "application/json, application/problem+json, text/*;q=0.8, */*;q=0.5",
                "accept-encoding": "gzip, deflate",
                "user-agent": "signalbox",
            },
        )


def _written_at(certificate: CertificateFiles) -> float:
    return max(Path(path).stat().st_mtime for path in certificate if path)
