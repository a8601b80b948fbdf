"""Under which key a response is kept: the same for two calls only if either's answer serves the other. Pure.

The key carries the tenant, the endpoint's id, version, method and address (its environment), whose answer it is, and
the arguments as their types mean them. A name is no part of it: two endpoints may share one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from schemas.calls import ApiCall
from schemas.endpoints import Endpoint
from schemas.ids import ChatKey
from schemas.turns import Environment
from workers.caching.normalising import normalised
from workers.caching.personal import names_a_person

_FORMAT = 1
"""Grows when the key's form or the stored form changes, so that nothing old is read as something new."""


@dataclass(frozen=True, kw_only=True)
class Asker:
    """On whose behalf a call is made. `user_token_name` is the keyed hash that stands for a person's own token."""

    chat: ChatKey
    environment: Environment = "production"
    user_token_name: str = ""


def response_key(call: ApiCall, asker: Asker) -> str | None:
    """Return 40 hex digits, or None for a call whose response can't be kept for anybody safely.

    An endpoint that passes the person's token on is keyed by the keyed hash of it. A private endpoint, arguments that
    name a person, and a trial are kept for their own chat alone.
    """
    whose = _whose(call, asker)
    if whose is None:
        return None
    endpoint = call.endpoint
    material = [
        _FORMAT,
        endpoint.tenant,
        endpoint.endpoint_id,
        endpoint.version,
        endpoint.method,
        endpoint.url,
        whose,
        normalised(call.arguments, endpoint.params),
    ]
    text = json.dumps(material, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def is_cacheable(endpoint: Endpoint) -> bool:
    """Whether responses may be kept at all: GET unless it says no, anything else only if it says so."""
    if endpoint.requires_approval or endpoint.cache_ttl_seconds == 0:
        return False
    return endpoint.cacheable if endpoint.cacheable is not None else endpoint.method == "GET"


def _whose(call: ApiCall, asker: Asker) -> str | None:
    endpoint = call.endpoint
    if endpoint.auth.kind == "user_token":
        return f"user:{asker.user_token_name}" if asker.user_token_name else None
    is_own = endpoint.visibility == "private" or asker.environment == "test" or names_a_person(call.arguments)
    return f"chat:{asker.chat}" if is_own else "all"
