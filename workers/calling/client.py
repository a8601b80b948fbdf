"""The only network call to customers' APIs, and the only file that knows httpx. Every ending is a value."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpcore
import httpx

from schemas.base import JsonValue
from schemas.calls import ApiCall, CallFailed, CallOutcome, CallSucceeded, FailureReason
from workers.calling.bodies import BodyTooDeep, BodyUnreadable, read_body
from workers.calling.collecting import BodyCollector, BodyTooLarge
from workers.calling.egress import EgressGuard, EgressRefused, HostUnknown
from workers.calling.plan import PreparedRequest
from workers.calling.retries import retry_after
from workers.runtime.settings import CallingSettings

MAX_HEADER_BYTES = 32 * 1024
MAX_ERROR_BYTES = 64 * 1024
_ADDRESSES_TRIED = 3
_CREDENTIAL = re.compile(r"auth|token|secret|passw|key|cookie|signature|\bsig\b", re.IGNORECASE)
_SHORTEST_SECRET = 6
# A gateway gave up waiting for an origin that may well have finished (RFC 9110 sections 15.6.3, 15.6.5).
_GATEWAY_GAVE_UP = (HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT)

BeforeLeaving = Callable[[], Awaitable[None]]


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
class _Flight:
    """What one request has done so far: whether its first byte may have left decides between two endings."""

    call: ApiCall
    before_leaving: BeforeLeaving
    started: float
    left: bool = False

    async def trace(self, event: str, _info: dict[str, Any]) -> None:
        """Hear from httpcore that the connection stands and the headers go out now."""
        if event == "http11.send_request_headers.started":
            await self.before_leaving()
            self.left = True

    def elapsed_ms(self) -> float:
        return round((time.monotonic() - self.started) * 1000, 2)

    def failed(
        self,
        reason: FailureReason,
        *,
        status: int = 0,
        body: JsonValue = None,
        retry_after_s: float | None = None,
    ) -> CallFailed:
        return CallFailed(
            call_id=self.call.call_id,
            reason=reason,
            status=status,
            body=body,
            retry_after_s=retry_after_s,
            elapsed_ms=self.elapsed_ms(),
        )

    def broke_off(self, reason: FailureReason, *, status: int = 0) -> CallFailed:
        """End without a whole answer: unknown when a call that must not be repeated may have left."""
        if self.left and not self.call.endpoint.is_repeatable():
            return self.failed(FailureReason.UNKNOWN, status=status)
        return self.failed(reason, status=status)


class ApiClient:
    """One per process. Never follows redirects, reads no proxy settings, keeps no cookies."""

    def __init__(self, settings: CallingSettings, guard: EgressGuard, *, tls: ssl.SSLContext | None = None) -> None:
        self._max_bytes = settings.max_response_bytes
        transport = _CheckedTransport(
            guard, tls=tls or httpx.create_ssl_context(), max_connections=settings.max_connections
        )
        self._http = httpx.AsyncClient(
            transport=transport,
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

    async def aclose(self) -> None:
        await self._http.aclose()

    async def send(
        self, call: ApiCall, request: PreparedRequest, *, timeout_s: float, before_leaving: BeforeLeaving
    ) -> CallOutcome:
        """Send once and wait at most `timeout_s` for the whole answer.

        `before_leaving` is awaited when the connection stands and before its first byte is written; what it raises
        passes through and nothing is sent. No failure of the API raises.
        """
        flight = _Flight(call, before_leaving, time.monotonic())
        try:
            async with asyncio.timeout(timeout_s):
                return await self._exchange(flight, request, timeout_s)
        except EgressRefused:
            return flight.failed(FailureReason.REFUSED)
        except (TimeoutError, httpx.TimeoutException):
            return flight.broke_off(FailureReason.TIMED_OUT)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError):
            return flight.failed(FailureReason.REFUSED)
        except httpx.TransportError:
            return flight.broke_off(FailureReason.UNREACHABLE)

    async def _exchange(self, flight: _Flight, request: PreparedRequest, timeout_s: float) -> CallOutcome:
        outgoing = self._build(request, timeout_s)
        outgoing.extensions["trace"] = flight.trace
        response = await self._http.send(outgoing, stream=True)
        try:
            return await self._judge(flight, response, _secrets(flight.call))
        finally:
            await response.aclose()

    def _build(self, request: PreparedRequest, timeout_s: float) -> httpx.Request:
        """Write the request out. Raises httpx.InvalidURL, for host names beyond IDNA too."""
        try:
            return self._http.build_request(
                request.method,
                request.url,
                params=list(request.query) or None,
                headers=[(name.encode(), value.encode()) for name, value in request.headers],
                json=request.json,
                content=_form_content(request),
                timeout=timeout_s,
            )
        except UnicodeError as error:
            raise httpx.InvalidURL("not encodable") from error

    async def _judge(self, flight: _Flight, response: httpx.Response, secrets: frozenset[str]) -> CallOutcome:
        status = response.status_code
        if sum(len(name) + len(value) for name, value in response.headers.raw) > MAX_HEADER_BYTES:
            return flight.failed(FailureReason.TOO_LARGE, status=status)
        if response.is_success:
            return await self._success(flight, response, secrets)
        if response.is_client_error:
            return await self._client_error(flight, response, secrets)
        if response.has_redirect_location or response.is_redirect:
            return flight.failed(FailureReason.REDIRECTED, status=status)
        retry_after_s = retry_after(response.headers.get("retry-after", ""), now=datetime.now(UTC))
        if status in _GATEWAY_GAVE_UP:
            return flight.broke_off(FailureReason.SERVER_ERROR, status=status)
        return flight.failed(FailureReason.SERVER_ERROR, status=status, retry_after_s=retry_after_s)

    async def _success(self, flight: _Flight, response: httpx.Response, secrets: frozenset[str]) -> CallOutcome:
        status = response.status_code
        try:
            data = await _read(response, self._max_bytes)
            body = read_body(data, response.headers.get("content-type", ""), secrets=secrets)
        except (BodyTooLarge, BodyTooDeep):
            return flight.failed(FailureReason.TOO_LARGE, status=status)
        except BodyUnreadable:
            return flight.broke_off(FailureReason.SERVER_ERROR, status=status)
        return CallSucceeded(call_id=flight.call.call_id, status=status, body=body, elapsed_ms=flight.elapsed_ms())

    async def _client_error(self, flight: _Flight, response: httpx.Response, secrets: frozenset[str]) -> CallFailed:
        status = response.status_code
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            wait_s = retry_after(response.headers.get("retry-after", ""), now=datetime.now(UTC))
            return flight.failed(FailureReason.RATE_LIMITED, status=status, retry_after_s=wait_s)
        if status == HTTPStatus.REQUEST_TIMEOUT:
            return flight.failed(FailureReason.TIMED_OUT, status=status)
        try:
            data = await _read(response, MAX_ERROR_BYTES)
            body = read_body(data, response.headers.get("content-type", ""), secrets=secrets)
        except (BodyTooLarge, BodyTooDeep, BodyUnreadable, TimeoutError, httpx.TransportError):
            body = None  # the status alone is the answer; a broken explanation must not hide it
        return flight.failed(FailureReason.CLIENT_ERROR, status=status, body=body)


def _form_content(request: PreparedRequest) -> bytes | None:
    return None if request.form is None else str(httpx.QueryParams(list(request.form))).encode()


def _secrets(call: ApiCall) -> frozenset[str]:
    """Collect what the catalogue put into credential-like places, with and without the scheme word."""
    constants = (*call.endpoint.headers.items(), *parse_qsl(urlsplit(call.endpoint.url).query))
    values = (value for name, value in constants if _CREDENTIAL.search(name) and "{" not in value)
    parts = {part for value in values for part in (value, value.rpartition(" ")[2])}
    return frozenset(part for part in parts if len(part) >= _SHORTEST_SECRET)


async def _read(response: httpx.Response, max_bytes: int) -> bytes:
    """Read and decompress, both capped. Raises what BodyCollector raises."""
    collector = BodyCollector(
        length=response.headers.get("content-length", ""),
        encoding=response.headers.get("content-encoding", ""),
        max_bytes=max_bytes,
    )
    async for chunk in response.aiter_raw():
        collector.feed(chunk)
    return collector.finish()
