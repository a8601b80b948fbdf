"""Reads a document from an address that an operator gave, through the guard that stands before every call."""

from __future__ import annotations

import asyncio
from urllib.parse import urljoin, urlsplit

import httpx

from workers.calling.bodies import BodyUnreadable
from workers.calling.collecting import BodyCollector, BodyTooLarge
from workers.calling.egress import AllowList, EgressGuard, EgressRefused, check_url
from workers.calling.transport import HttpClients
from workers.errors import DocumentUnreadable
from workers.runtime.settings import CallingSettings

_REDIRECTS = 3


class DocumentFetcher:
    """One per process. Follows a few redirects, never to another host."""

    def __init__(self, settings: CallingSettings, *, max_bytes: int, timeout_s: float) -> None:
        guard = EgressGuard(AllowList.parse(settings.allowed_hosts))
        self._clients = HttpClients(guard, max_connections=4, ca_file=settings.ca_file)
        self._max_bytes = max_bytes
        self._timeout_s = timeout_s

    async def close(self) -> None:
        """Close the connections."""
        await self._clients.aclose()

    async def fetch(self, url: str) -> tuple[str, str]:
        """Return the text and the address it came from at last. Raises DocumentUnreadable."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._follow(url)
        except EgressRefused as error:
            why = f"{error.host or 'this address'} may not be read: {error.why}"
            raise DocumentUnreadable(f"{url}: {why}; CALLING_ALLOWED_HOSTS opens private hosts") from error
        except (TimeoutError, httpx.TimeoutException) as error:
            raise DocumentUnreadable(f"{url} did not answer within {self._timeout_s:g} s") from error
        except BodyTooLarge as error:
            raise DocumentUnreadable(f"{url} is larger than {self._max_bytes // 1_000_000} MB") from error
        except (httpx.HTTPError, httpx.InvalidURL, BodyUnreadable, UnicodeDecodeError) as error:
            raise DocumentUnreadable(f"{url} can't be read: {error or type(error).__name__}") from error

    async def _follow(self, url: str) -> tuple[str, str]:
        http = await self._clients.of(None)
        address = url
        for _ in range(_REDIRECTS + 1):
            check_url(address)
            async with http.stream("GET", address, headers={"accept": "*/*"}) as response:
                if not response.has_redirect_location:
                    return await self._text(response, address), address
                target = urljoin(address, response.headers["location"])
            if urlsplit(target).netloc != urlsplit(address).netloc:
                raise DocumentUnreadable(f"{url} leads to another host, {urlsplit(target).netloc}; name that one")
            address = target
        raise DocumentUnreadable(f"{url} was redirected more than {_REDIRECTS} times")

    async def _text(self, response: httpx.Response, address: str) -> str:
        if not response.is_success:
            raise DocumentUnreadable(f"{address} answered {response.status_code}")
        collector = BodyCollector(
            length=response.headers.get("content-length", ""),
            encoding=response.headers.get("content-encoding", ""),
            max_bytes=self._max_bytes,
        )
        async for chunk in response.aiter_raw():
            collector.feed(chunk)
        return collector.finish().decode("utf-8-sig")
