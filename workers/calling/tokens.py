"""OAuth2 access tokens by client credentials: kept while they last, fetched once for all who wait, in all workers.

Source: RFC 6749 section 4.4. Outside of this process tokens are kept sealed (see token_sharing).
"""

from __future__ import annotations

import asyncio
import base64
import functools
import secrets
import time
from dataclasses import dataclass
from urllib.parse import quote_plus, urlsplit

import structlog
from pydantic import SecretStr

from schemas.auth import ClientCredentialsAuth
from schemas.calls import ApiCall, CallFailed, CallOutcome, FailureReason
from schemas.endpoints import Endpoint
from workers.calling.breaker import Pass, Verdict, verdict_on
from workers.calling.breaker_store import BreakerStore
from workers.calling.client import ApiClient
from workers.calling.egress import EgressRefused, check_url
from workers.calling.plan import endpoint_address
from workers.calling.prepared import PreparedRequest
from workers.calling.token_sharing import Fresh, SharedTokens, Shelf
from workers.calling.vault import Vault

log = structlog.get_logger(__name__)

_LIFETIME_S = 300.0  # of a token that does not say; RFC 6749 leaves it open
_LONGEST_MARGIN_S = 30.0
_RENEWED_EVERY_S = 30.0
_REFUSALS = frozenset({FailureReason.CLIENT_ERROR, FailureReason.REDIRECTED, FailureReason.TOO_LARGE})


class TokenUnavailable(Exception):
    """No token: `reason` is what becomes of the call that needs it."""

    def __init__(self, reason: FailureReason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class _Held:
    token: SecretStr
    until: float
    shelf: Shelf | None


class TokenStore:
    """The tokens of this process."""

    def __init__(
        self, client: ApiClient, breakers: BreakerStore, vault: Vault, *, timeout_s: float, shared: SharedTokens
    ) -> None:
        self._client = client
        self._breakers = breakers
        self._vault = vault
        self._timeout_s = timeout_s
        self._shared = shared
        self._held: dict[ClientCredentialsAuth, _Held] = {}
        self._renewed_until: dict[ClientCredentialsAuth, float] = {}
        self._fetching: dict[ClientCredentialsAuth, asyncio.Task[SecretStr]] = {}

    async def get(self, auth: ClientCredentialsAuth) -> SecretStr:
        """Return a token with time left; whoever waits meanwhile shares one fetch, and outlives the others' end.

        Raises TokenUnavailable and SecretMissing.
        """
        held = self._held.get(auth)
        if held is not None and time.monotonic() < held.until:
            return held.token
        task = self._fetching.get(auth)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._fetch(auth))
            self._fetching[auth] = task
            task.add_done_callback(lambda done: self._fetched(auth, done))
        return await asyncio.shield(task)

    async def forget(self, auth: ClientCredentialsAuth, token: str) -> bool:
        """Drop a token that an API refused, for all workers; return whether there is, or can be had, another.

        An API that refuses the renewed one too has other reasons, and is no cause to ask for a token at each call.
        """
        held = self._held.get(auth)
        if held is None or held.token.get_secret_value() != token:
            return True
        if time.monotonic() < self._renewed_until.get(auth, 0.0):
            return False
        self._renewed_until[auth] = time.monotonic() + _RENEWED_EVERY_S
        del self._held[auth]
        if held.shelf is not None:
            await held.shelf.drop(token)
        return True

    def _fetched(self, auth: ClientCredentialsAuth, task: asyncio.Task[SecretStr]) -> None:
        self._fetching.pop(auth, None)
        if not task.cancelled():
            task.exception()  # seen by those who wait; nobody may be left by now

    async def _fetch(self, auth: ClientCredentialsAuth) -> SecretStr:
        host = urlsplit(auth.token_url).hostname or ""
        secret = await self._vault.read(auth.client_secret, host=host)
        shelf = await self._shared.shelf(auth, secret)
        fetch = functools.partial(self._fetch_anew, auth, secret.get_secret_value(), host)
        fresh = await (shelf.get(fetch) if shelf else fetch())
        self._held[auth] = _Held(token=fresh.token, until=time.monotonic() + fresh.left_s, shelf=shelf)
        return fresh.token

    async def _fetch_anew(self, auth: ClientCredentialsAuth, secret: str, host: str) -> Fresh:
        outcome = await self._ask(auth, secret)
        body = None if isinstance(outcome, CallFailed) else outcome.body
        token = body.get("access_token") if isinstance(body, dict) else None
        if not isinstance(body, dict) or not isinstance(token, str) or not token:
            reason = outcome.reason if isinstance(outcome, CallFailed) else FailureReason.AUTH_MISSING
            log.warning("token_not_given", host=host, outcome=str(reason), status=outcome.status)
            raise TokenUnavailable(FailureReason.AUTH_MISSING if reason in _REFUSALS else reason)
        lifetime_s = _seconds(body.get("expires_in"))
        margin_s = min(_LONGEST_MARGIN_S, lifetime_s / 10)
        log.info("token_fetched", host=host, lifetime_s=lifetime_s)
        return Fresh(token=SecretStr(token), left_s=lifetime_s - margin_s)

    async def _ask(self, auth: ClientCredentialsAuth, secret: str) -> CallOutcome:
        call = ApiCall(call_id="token", index=0, endpoint=_endpoint(auth))
        try:
            check_url(auth.token_url)
        except EgressRefused:
            return CallFailed(call_id=call.call_id, reason=FailureReason.REFUSED)
        address, owner = endpoint_address(auth.token_url), secrets.token_hex(8)
        admission = await self._breakers.admit(address, owner=owner, probe_s=self._timeout_s + 2)
        if admission.verdict is Pass.NO:
            return CallFailed(call_id=call.call_id, reason=FailureReason.BREAKER_OPEN)
        verdict = Verdict.NOTHING
        try:
            outcome = await self._client.send(
                call, token_request(auth, secret), timeout_s=self._timeout_s, before_leaving=_go
            )
            verdict = verdict_on(outcome)
            return outcome
        finally:
            await asyncio.shield(self._breakers.report(address, admission, verdict))


def token_request(auth: ClientCredentialsAuth, secret: str) -> PreparedRequest:
    """Write the request for a token; the client's name and secret go into a header or the form (section 2.3.1)."""
    fields = {"grant_type": "client_credentials", "scope": auth.scope, "audience": auth.audience}
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/x-www-form-urlencoded"),)
    if auth.client_in == "body":
        fields |= {"client_id": auth.client_id, "client_secret": secret}
    else:
        pair = f"{quote_plus(auth.client_id)}:{quote_plus(secret)}"
        headers = (*headers, ("Authorization", f"Basic {base64.b64encode(pair.encode()).decode()}"))
    form = tuple((name, value) for name, value in fields.items() if value)
    return PreparedRequest(method="POST", url=auth.token_url, headers=headers, form=form, secrets=frozenset({secret}))


def _endpoint(auth: ClientCredentialsAuth) -> Endpoint:
    return Endpoint(
        endpoint_id="token",
        name="token",
        description="Access token.",
        url=auth.token_url,
        method="POST",
        idempotent=True,
    )


def _seconds(said: object) -> float:
    try:
        seconds = float(str(said))
    except ValueError:
        return _LIFETIME_S
    return seconds if 0 < seconds < float("inf") else _LIFETIME_S


async def _go() -> None:
    return None
