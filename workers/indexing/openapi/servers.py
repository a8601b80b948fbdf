"""Where an operation is served, and which secrets it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

from schemas.base import Frozen
from workers.indexing.openapi.document import Document, Node, Place, RefusedAt, texts

_VARIABLE = re.compile(r"\{([^{}]+)\}")
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


class Credential(Frozen):
    """A secret that must be there before calls succeed: `secret` is the reference under which it is sought.

    `place` is header, query or cookie; `name` is the header's or parameter's; `prefix` comes before the secret.
    """

    scheme: str
    kind: str
    place: str
    name: str
    prefix: str = ""
    secret: str


def base_url(document: Document, item: Place, operation: Place, *, source_url: str = "", server: str = "") -> str:
    """Return the address that paths are added to, without a slash at its end.

    `server` overrides all; else the operation's own servers, the path's, the document's; relative ones are read from
    where the document came from. Raises RefusedAt when no absolute address results.
    """
    if server:
        return server.rstrip("/")
    found, pointer = _swagger(document, operation) if document.is_swagger else _server(document, item, operation)
    try:
        address = urljoin(source_url, found) if source_url else found
        parts = urlsplit(address)
    except ValueError:
        raise RefusedAt(pointer, f"{found} can't be read as a URL") from None
    if parts.scheme not in ("http", "https") or not parts.netloc or "{" in address:
        raise RefusedAt(pointer, f"{address or 'nothing'} is no absolute http address; give one with --server")
    return address.rstrip("/")


def _swagger(document: Document, operation: Place) -> tuple[str, str]:
    root = document.root
    base = str(root.get("basePath") or "/")
    if not root.get("host"):
        return base, "#/host"
    schemes = texts(operation.node, "schemes") or texts(root, "schemes") or ["https"]
    scheme = "https" if "https" in schemes else "http"
    scheme = scheme if scheme in schemes else str(schemes[0])
    return f"{scheme}://{root['host']}/{base.lstrip('/')}", "#/schemes"


def _server(document: Document, item: Place, operation: Place) -> tuple[str, str]:
    for owner in (operation, item, document.top):
        for server in owner.children("servers"):
            return _filled(server.node), f"{server.pointer}/url"
    return "/", "#/servers"


def _filled(server: Node) -> str:
    """Put the defaults of its variables into a server's address."""
    variables = server.get("variables")
    known = variables if isinstance(variables, dict) else {}

    def default(match: re.Match[str]) -> str:
        described = known.get(match[1])
        return str(described.get("default", match[0])) if isinstance(described, dict) else match[0]

    return _VARIABLE.sub(default, str(server.get("url", "/")))


def credentials(document: Document, operation: Place) -> list[Credential]:
    """Return what an alternative of the operation's security asks for; none when none is needed.

    The first one that can be said in one reference, else the first.
    """
    holder = operation if isinstance(operation.node.get("security"), list) else document.top
    alternatives = list(holder.children("security"))
    if not alternatives or any(not one.node for one in alternatives):
        return []
    told = [[found for name in one.node for found in _schemes(document, str(name))] for one in alternatives]
    return next((needs for needs in told if auth_of(needs) is not None), told[0])


def auth_of(needs: list[Credential]) -> Node | None:
    """Return the registration's `auth`; None when nothing is needed, or what is needed can't be said in one reference.

    Basic asks for a user name that no document tells, several secrets at once have no form, and neither have other
    HTTP schemes (digest) or client certificates.
    """
    if len(needs) != 1 or needs[0].prefix not in ("", "Bearer ") or needs[0].kind == "mutualTLS":
        return None
    (need,) = needs
    if need.kind == "apiKey":
        return {"kind": "api_key", "name": need.name, "in": need.place, "value": need.secret}
    return {"kind": "bearer", "token": need.secret}


def _schemes(document: Document, name: str) -> Iterator[Credential]:
    home = ("securityDefinitions",) if document.is_swagger else ("components", "securitySchemes")
    try:
        scheme = document.follow(document.top.child(*home, name)).node
    except RefusedAt:
        return
    kind = str(scheme.get("type", ""))
    place, header, prefix = "header", "Authorization", "Bearer "
    if kind == "apiKey":
        place, header, prefix = str(scheme.get("in", "header")), str(scheme.get("name", name)), ""
    elif kind == "basic":
        prefix = "Basic "
    elif kind == "http":
        prefix = f"{str(scheme.get('scheme', 'bearer')).capitalize()} "
    elif kind == "mutualTLS":
        place, header, prefix = "certificate", "", ""
    title = str(_info(document).get("title", "api"))
    secret = "env:SECRET_" + _UNSAFE.sub("_", f"{title}_{name}").strip("_").upper()
    yield Credential(scheme=name, kind=kind, place=place, name=header, prefix=prefix, secret=secret)


def _info(document: Document) -> Node:
    info = document.root.get("info")
    return info if isinstance(info, dict) else {}
