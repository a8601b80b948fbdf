"""For how long a response may be kept, and whether it may be kept at all. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

from schemas.calls import ApiCall, CallOutcome, CallSucceeded
from workers.caching.canonical import is_cacheable

_DIRECTIVE = re.compile(r'([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,]+)))?', re.IGNORECASE)
_WHOLE = frozenset({HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION})
_NEVER = frozenset({"no-store", "no-cache", "private"})


def fresh_for_s(headers: Mapping[str, str]) -> float | None:
    """Read what a response's headers allow: 0 for not at all, seconds, None when they say nothing (RFC 9111).

    `s-maxage` goes before `max-age`; `Age` has been spent already; an unreadable number counts as stale.
    """
    said = {name.lower(): quoted or bare for name, quoted, bare in _DIRECTIVE.findall(headers.get("cache-control", ""))}
    if said.keys() & _NEVER or headers.get("vary", "").strip() == "*":
        return 0.0
    limit = said.get("s-maxage", said.get("max-age"))
    if limit is None:
        return 0.0 if not said and "no-cache" in headers.get("pragma", "").lower() else None
    age = headers.get("age", "0").strip()
    if not limit.isascii() or not limit.isdigit():
        return 0.0
    return max(0.0, float(limit) - (float(age) if age.isascii() and age.isdigit() else 0.0))


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
