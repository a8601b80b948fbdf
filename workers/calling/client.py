"""The only network call to customers' APIs. Every ending is a value. Only this file and `transport` know httpx."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import httpx
import structlog

from schemas.base import JsonValue
from schemas.calls import ApiCall, CallFailed, CallOutcome, CallSucceeded, FailureReason
from workers.caching.freshness import fresh_for_s, stale_for_s
from workers.calling.bodies import BodyTooDeep, BodyUnreadable, is_garbled, media_type, read_body, read_text, to_text
from workers.calling.collecting import BodyCollector, BodyTooLarge
from workers.calling.egress import EgressGuard, EgressRefused
from workers.calling.prepared import PreparedRequest
from workers.calling.retries import retry_after
from workers.calling.success import refusal_in
from workers.calling.transport import CertificateUnusable, HttpClients
from workers.runtime.settings import CallingSettings

log = structlog.get_logger(__name__)

MAX_HEADER_BYTES = 32 * 1024
MAX_ERROR_BYTES = 64 * 1024
_CREDENTIAL = re.compile(r"auth|token|secret|passw|key|cookie|signature|\bsig\b", re.IGNORECASE)
_SHORTEST_SECRET = 6
# A gateway gave up waiting for an origin that may well have finished (RFC 9110 sections 15.6.3, 15.6.5).
_GATEWAY_GAVE_UP = (HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT)

BeforeLeaving = Callable[[], Awaitable[None]]


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
        self._clients = HttpClients(guard, max_connections=settings.max_connections, ca_file=settings.ca_file, tls=tls)

    async def aclose(self) -> None:
        await self._clients.aclose()

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
        except (EgressRefused, httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError):
            return flight.failed(FailureReason.REFUSED)
        except CertificateUnusable:
            return flight.failed(FailureReason.AUTH_MISSING)
        except (TimeoutError, httpx.TimeoutException):
            return flight.broke_off(FailureReason.TIMED_OUT)
        except httpx.TransportError as error:
            if _is_for_its_headers(error):
                return flight.failed(FailureReason.TOO_LARGE)
            return flight.broke_off(FailureReason.UNREACHABLE)

    async def _exchange(self, flight: _Flight, request: PreparedRequest, timeout_s: float) -> CallOutcome:
        http = await self._clients.of(request.certificate)
        outgoing = _build(http, request, timeout_s)
        outgoing.extensions["trace"] = flight.trace
        response = await http.send(outgoing, stream=True)
        try:
            return await self._judge(flight, response, _secrets(flight.call) | request.secrets)
        finally:
            await response.aclose()

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
        media = media_type(response.headers.get("content-type", ""))
        try:
            text = to_text(await _read(response, self._max_bytes), media.charset)
            body = read_text(text, media, secrets=secrets)
        except (BodyTooLarge, BodyTooDeep):
            return flight.failed(FailureReason.TOO_LARGE, status=status)
        except BodyUnreadable as error:
            log.warning("answer_unreadable", endpoint=flight.call.endpoint.endpoint_id, status=status, why=str(error))
            return flight.broke_off(FailureReason.SERVER_ERROR, status=status)
        is_problem = media.name == "application/problem+json"
        refusal = refusal_in(body, flight.call.endpoint.success, is_problem=is_problem)
        if refusal is not None:
            kept = body if refusal is FailureReason.CLIENT_ERROR else None
            return flight.failed(refusal, status=status, body=kept)
        return CallSucceeded(
            call_id=flight.call.call_id,
            status=status,
            body=body,
            elapsed_ms=flight.elapsed_ms(),
            # What could not be decoded may come whole the next time.
            fresh_for_s=0.0 if is_garbled(text) else fresh_for_s(response.headers),
            stale_for_s=stale_for_s(response.headers),
        )

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


def _build(http: httpx.AsyncClient, request: PreparedRequest, timeout_s: float) -> httpx.Request:
    """Write the request out. Raises httpx.InvalidURL, for host names beyond IDNA too."""
    try:
        return http.build_request(
            request.method,
            _address(request),
            headers=[(name.encode(), value.encode()) for name, value in request.headers],
            json=request.json,
            content=_form_content(request),
            files=_files(request),
            timeout=timeout_s,
        )
    except UnicodeError as error:
        raise httpx.InvalidURL("not encodable") from error


def _address(request: PreparedRequest) -> str:
    """Write the address with its query. A space is %20: what "+" means in a query is a form's custom (RFC 3986)."""
    return f"{request.url}?{urlencode(request.query, quote_via=quote)}" if request.query else request.url


def _form_content(request: PreparedRequest) -> bytes | None:
    """Write form fields, or the nothing that an empty multipart body is."""
    if request.form is not None:
        return str(httpx.QueryParams(list(request.form))).encode()
    return b"" if request.multipart == () else None


def _files(request: PreparedRequest) -> list[tuple[str, tuple[str | None, bytes, str | None]]] | None:
    if not request.multipart:
        return None
    return [(part.name, (part.file_name, part.text.encode(), part.media_type)) for part in request.multipart]


def _is_for_its_headers(error: BaseException | None) -> bool:
    """Whether h11, at the bottom of the chain, gave up on headers that are longer than it ever reads."""
    while error is not None:
        if getattr(error, "error_status_hint", None) == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
            return True
        error = error.__cause__ or error.__context__
    return False


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
