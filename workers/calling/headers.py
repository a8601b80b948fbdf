"""The headers of a request: the endpoint's own, header parameters, cookies, the idempotency key. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from urllib.parse import quote

from schemas.calls import ApiCall
from workers.calling.prepared import CannotPlace, Pairs
from workers.calling.styles import Placed, header_text, joined, pairs

_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# They frame the message or choose the host: whoever sets them could smuggle a second request.
_RESERVED = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect", "keep-alive"}
)


def headers_of(call: ApiCall, *, given: Iterable[Placed], cookies: Iterable[Placed]) -> Pairs:
    """Join the endpoint's own headers, header parameters, cookies and the idempotency key; the last writer wins.

    Raises:
        CannotPlace: a name or value that a header may not hold.
    """
    merged: dict[str, tuple[str, str]] = {}
    texts = [(placed.name, header_text(placed)) for placed in given]
    for name, value in (*call.endpoint.headers.items(), *texts):
        refuse_header(name, value)
        merged[name.lower()] = (name, value.strip())
    crumbs = [crumb for placed in cookies for crumb in _crumbs(placed)]
    if crumbs:
        own = merged.get("cookie", ("Cookie", ""))[1]
        merged["cookie"] = ("Cookie", "; ".join([*filter(None, [own]), *crumbs]))
    # Also where a POST is declared idempotent: by this key many APIs know that it is the same one again.
    if call.endpoint.method in ("POST", "PATCH"):
        header = call.endpoint.idempotency_header
        merged.setdefault(header.lower(), (header, idempotency_key(call)))
    return tuple(merged.values())


def with_cookie(headers: Pairs, name: str, value: str) -> Pairs:
    """Add one cookie to those that the headers carry."""
    own = next((held for key, held in headers if key.lower() == "cookie"), "")
    others = tuple((key, held) for key, held in headers if key.lower() != "cookie")
    return (*others, ("Cookie", "; ".join(filter(None, [own, crumb(name, value)]))))


def with_header(headers: Pairs, name: str, value: str) -> Pairs:
    """Set one header, in the place of others of its name. Raises CannotPlace."""
    refuse_header(name, value)
    return (*((key, held) for key, held in headers if key.lower() != name.lower()), (name, value))


def idempotency_key(call: ApiCall) -> str:
    """Digest the call id: a turn id opens its event stream, so it is not shown to third parties."""
    return hashlib.sha256(call.call_id.encode()).hexdigest()[:32]


def refuse_header(name: str, value: str) -> None:
    """Raise CannotPlace for a header that could break or reframe the message."""
    if not _HEADER_NAME.fullmatch(name):
        raise CannotPlace(name, "not a header name")
    if name.lower() in _RESERVED:
        raise CannotPlace(name, "this header frames the message and is ours alone")
    if _CONTROL.search(value):
        raise CannotPlace(name, "a header value may not hold line breaks or control characters")


def crumb(name: str, value: str) -> str:
    """Write one cookie. Raises CannotPlace for a name that is none."""
    if not _HEADER_NAME.fullmatch(name):
        raise CannotPlace(name, "not a cookie name")
    return f"{name}={quote(value, safe='')}"


def _crumbs(placed: Placed) -> list[str]:
    if placed.is_plain:
        return [crumb(placed.name, joined(placed.value))]
    return [crumb(name, value) for name, value in pairs(placed)]
