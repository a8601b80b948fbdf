"""For how long a response may be kept, and whether it may be kept at all. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from schemas.calls import ApiCall, CallOutcome, CallSucceeded
from workers.caching.canonical import is_cacheable

_DIRECTIVE = re.compile(r'([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,]+)))?', re.IGNORECASE)
_WHOLE = frozenset({HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION})
_NEVER = frozenset({"no-store", "no-cache", "private"})
_NEVER_STALE = frozenset({"must-revalidate", "proxy-revalidate", "s-maxage"})
_MOST_AHEAD = 0.1


def fresh_for_s(headers: Mapping[str, str]) -> float | None:
    """Read what a response's headers allow: 0 for not at all, seconds, None when they say nothing (RFC 9111).

    `s-maxage` goes before `max-age`; `Age` has been spent already; an unreadable number counts as stale.
    """
    said = _directives(headers)
    if said.keys() & _NEVER or headers.get("vary", "").strip() == "*":
        return 0.0
    limit = said.get("s-maxage", said.get("max-age"))
    if limit is None:
        return 0.0 if not said and "no-cache" in headers.get("pragma", "").lower() else None
    age = headers.get("age", "0").strip()
    if not limit.isascii() or not limit.isdigit():
        return 0.0
    return max(0.0, float(limit) - (float(age) if age.isascii() and age.isdigit() else 0.0))


def stale_for_s(headers: Mapping[str, str]) -> float:
    """Read for how long past its time an answer may be told while a new one is fetched (RFC 5861); 0 unless said so.

    `must-revalidate` and its like forbid it.
    """
    said = _directives(headers)
    limit = said.get("stale-while-revalidate", "")
    is_allowed = limit.isascii() and limit.isdigit() and not said.keys() & (_NEVER | _NEVER_STALE)
    return float(limit) if is_allowed else 0.0


def _directives(headers: Mapping[str, str]) -> dict[str, str]:
    found = _DIRECTIVE.findall(headers.get("cache-control", ""))
    return {name.lower(): quoted or bare for name, quoted, bare in found}


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """For how long a response is kept, and from when on the first who asks renews it while the others are told it."""

    kept_s: float
    renewed_after_s: float


def keeping(kept_s: float, outcome: CallOutcome, *, grace_s: float, jitter: float, chance: float) -> Keeping:
    """Spread the ends of what was kept at the same time, and set each end's renewal before it.

    `chance` (0…1) of `jitter` is taken off, never put on. Renewal begins `grace_s`, at most a tenth of the time, before
    the end, so nothing stale is told. Only where the API itself allows it does the grace lie behind the end.
    """
    fresh_s = kept_s * (1 - jitter * chance)
    stale_s = min(outcome.stale_for_s, grace_s) if isinstance(outcome, CallSucceeded) else 0.0
    if stale_s > 0:
        return Keeping(kept_s=fresh_s + stale_s, renewed_after_s=fresh_s)
    return Keeping(kept_s=fresh_s, renewed_after_s=fresh_s - min(grace_s, fresh_s * _MOST_AHEAD))


def kept_for_s(call: ApiCall, outcome: CallOutcome, *, default_s: float) -> float:
    """Return how long this outcome may answer others: 0 for an error, a partial or empty answer, or a no-store."""
    if not isinstance(outcome, CallSucceeded) or outcome.status not in _WHOLE or outcome.body is None:
        return 0.0
    if not is_cacheable(call.endpoint) or outcome.cached is not None:
        return 0.0
    own = call.endpoint.cache_ttl_seconds
    limits = [float(own) if own is not None else default_s]
    if outcome.fresh_for_s is not None:
        limits.append(outcome.fresh_for_s)
    return min(limits)
