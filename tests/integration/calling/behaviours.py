"""What the misbehaving server does, by the first segment of the path."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from tests.integration.calling.misbehaving import Misbehaving, Seen

Writer = asyncio.StreamWriter
Behaviour = Callable[["Misbehaving", "Seen", Writer], Awaitable[None]]


def _head(status: str, length: int | None, **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if length is not None:
        lines.append(f"content-length: {length}")
    return "\r\n".join([*lines, "", ""]).encode()


async def _send(writer: Writer, status: str, body: bytes, **headers: str) -> None:
    writer.write(_head(status, len(body), **headers) + body)
    await writer.drain()


async def _json(writer: Writer, value: object, status: str = "200 OK", kind: str = "application/json") -> None:
    await _send(writer, status, json.dumps(value).encode(), content_type=kind)


async def _fine(_server: Misbehaving, request: Seen, writer: Writer) -> None:
    await _json(writer, {"target": request.target, "body": request.body.decode(), "headers": request.headers})


async def _say(_server: Misbehaving, request: Seen, writer: Writer) -> None:
    """Give back the path's end as a value; after a while when the path says so."""
    if "/slowly/" in request.target:
        await asyncio.sleep(0.5)
    await _json(writer, {"value": request.target.partition("?")[0].rpartition("/")[2]})


async def _echo_error(_server: Misbehaving, request: Seen, writer: Writer) -> None:
    """Complain, and repeat everything that was sent, credentials and all."""
    sent = {"target": request.target, "headers": request.headers, "body": request.body.decode()}
    await _json(writer, {"detail": json.dumps(sent), "sent": sent}, "422 No", "application/problem+json")


async def _slow_headers(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    await asyncio.sleep(5)
    await _json(writer, {})


async def _hanging(_server: Misbehaving, _request: Seen, _writer: Writer) -> None:
    await asyncio.sleep(3600)


async def _slowish(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    await asyncio.sleep(0.3)
    await _json(writer, {"slow": True})


async def _slow_body(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    writer.write(_head("200 OK", 100, content_type="text/plain"))
    for _ in range(100):
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(0.05)


async def _reset(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    writer.write(_head("200 OK", 1000, content_type="application/json") + b'{"half":')
    await writer.drain()
    writer.transport.abort()


async def _hang_up(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    writer.transport.abort()


async def _rate_limited(server: Misbehaving, request: Seen, writer: Writer) -> None:
    wait = request.target.partition("?wait=")[2] or "1"
    if server.count(request.target.partition("?")[0]) > 1:
        await _json(writer, {"served": True})
    else:
        await _send(writer, "429 Too Many Requests", b"slow down", retry_after=wait)


async def _kept(_server: Misbehaving, request: Seen, writer: Writer) -> None:
    said = unquote(request.target.partition("?says=")[2])
    await _send(writer, "200 OK", b'{"kept": true}', content_type="application/json", cache_control=said)


async def _recovering(server: Misbehaving, request: Seen, writer: Writer) -> None:
    if server.count(request.target) > 1:
        await _json(writer, {"served": True})
    else:
        await _send(writer, "503 Service Unavailable", b"")


async def _status(_server: Misbehaving, request: Seen, writer: Writer) -> None:
    code = request.target.partition("?")[0].rpartition("/")[2]
    await _json(writer, {"title": "no", "status": code}, f"{code} Whatever", "application/problem+json; charset=utf-8")


async def _redirect(server: Misbehaving, _request: Seen, writer: Writer) -> None:
    await _send(writer, "302 Found", b"", location=server.redirect_to)


async def _redirect_loop(_server: Misbehaving, request: Seen, writer: Writer) -> None:
    await _send(writer, "302 Found", b"", location=request.target)


def _gzip_bomb() -> bytes:
    """Return a MiB that becomes a GiB: a block of zeros, a thousand times over. Nobody gets to its end."""
    deflate = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    block = deflate.compress(bytes(2**20)) + deflate.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + block * 2**10 + deflate.flush() + bytes(8)


async def _bomb(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    await _send(writer, "200 OK", _gzip_bomb(), content_type="application/json", content_encoding="gzip")


async def _packed(_server: Misbehaving, request: Seen, writer: Writer) -> None:
    how = request.target.rpartition("/")[2]
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    plain = b'{"packed": true}'
    body = {"gzip": gzip.compress(plain), "zlib": zlib.compress(plain), "raw": raw.compress(plain) + raw.flush()}[how]
    encoding = "gzip" if how == "gzip" else "deflate"
    await _send(writer, "200 OK", body, content_type="application/json", content_encoding=encoding)


async def _wrong_length(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    writer.write(_head("200 OK", 500, content_type="application/json") + b'{"short": true}')
    await writer.drain()
    writer.close()


async def _endless(server: Misbehaving, _request: Seen, writer: Writer) -> None:
    writer.write(_head("200 OK", None, content_type="text/plain", transfer_encoding="chunked"))
    block = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    while not writer.is_closing():
        writer.write(block)
        await writer.drain()
        server.sent_blocks += 1


async def _large(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    """An answer just within the shipped cap of two MiB."""
    await _send(writer, "200 OK", b"x" * (2 * 1024 * 1024 - 1), content_type="text/plain")


async def _gigabyte(server: Misbehaving, request: Seen, writer: Writer) -> None:
    """Stream a gigabyte, with its length declared or until the connection ends."""
    length = 2**30 if request.target.endswith("/declared") else None
    writer.write(_head("200 OK", length, content_type="text/plain", connection="close"))
    block = b"x" * 0x10000
    for _ in range(2**30 // len(block)):
        writer.write(block)
        await writer.drain()
        server.sent_blocks += 1
    writer.close()


async def _html(_server: Misbehaving, request: Seen, writer: Writer) -> None:
    code = request.target.rpartition("/")[2]
    await _send(writer, f"{code} X", b"<!DOCTYPE html><html><body>secret stack</body></html>", content_type="text/html")


async def _cyrillic(_server: Misbehaving, request: Seen, writer: Writer) -> None:
    declared = "; charset=windows-1251" if request.target.endswith("/declared") else ""
    text = "Налог на транспорт оплачен"
    await _send(writer, "200 OK", text.encode("windows-1251"), content_type=f"text/plain{declared}")


async def _latin_error(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    await _send(
        writer, "404 Not Found", "pole sõidukit".encode("latin-1"), content_type="text/plain; charset=iso-8859-1"
    )


async def _no_content(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    writer.write(_head("204 No Content", None))
    await writer.drain()


async def _empty(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    await _send(writer, "200 OK", b"", content_type="application/json")


async def _fat_headers(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    await _send(writer, "200 OK", b"{}", content_type="application/json", x_fat="x" * 60_000)


async def _endless_headers(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while not writer.is_closing():
        writer.write(b"x-more: " + b"x" * 1_000 + b"\r\n")
        await writer.drain()


async def _garbage(_server: Misbehaving, _request: Seen, writer: Writer) -> None:
    writer.write(b"this is not HTTP\r\n\r\n")
    await writer.drain()
    writer.close()


async def _cookie(_server: Misbehaving, request: Seen, writer: Writer) -> None:
    await _send(
        writer,
        "200 OK",
        json.dumps({"got": request.headers.get("cookie", "")}).encode(),
        content_type="application/json",
        set_cookie="session=somebody; Path=/",
    )


async def _token(server: Misbehaving, request: Seen, writer: Writer) -> None:
    """An authority: /token/<seconds it lasts>, or /token/refused. The n-th token is its path and n."""
    path = request.target
    await asyncio.sleep(0.1)
    if path.endswith("refused"):
        await _json(writer, {"error": "invalid_client"}, "401 Unauthorized")
        return
    last = path.rpartition("/")[2]
    token = f"access-token-{last}-{server.count(path)}"
    await _json(writer, {"access_token": token, "token_type": "bearer", "expires_in": float(last)})


async def _guarded(_server: Misbehaving, request: Seen, writer: Writer) -> None:
    """Takes no token but the second of an hour's."""
    if request.headers.get("authorization") == "Bearer access-token-3600-2":
        await _json(writer, {"served": True})
    else:
        await _json(writer, {"title": "token revoked"}, "401 Unauthorized")


async def _order(_server: Misbehaving, request: Seen, writer: Writer) -> None:
    """Takes a POST and hangs up; a GET tells whether it has it: at /order/kept yes, at /order/lost no."""
    if request.method == "POST":
        writer.transport.abort()
    elif "/kept" in request.target:
        await _json(writer, {"order": request.target.rpartition("/")[2]})
    else:
        await _json(writer, {"title": "no such order"}, "404 Not Found")


BEHAVIOURS: dict[str, Behaviour] = {
    "fine": _fine,
    "say": _say,
    "echo-error": _echo_error,
    "slow-headers": _slow_headers,
    "hanging": _hanging,
    "slowish": _slowish,
    "slow-body": _slow_body,
    "reset": _reset,
    "hang-up": _hang_up,
    "rate-limited": _rate_limited,
    "recovering": _recovering,
    "kept": _kept,
    "status": _status,
    "redirect": _redirect,
    "redirect-loop": _redirect_loop,
    "bomb": _bomb,
    "packed": _packed,
    "wrong-length": _wrong_length,
    "endless": _endless,
    "gigabyte": _gigabyte,
    "large": _large,
    "html": _html,
    "cyrillic": _cyrillic,
    "latin-error": _latin_error,
    "no-content": _no_content,
    "empty": _empty,
    "fat-headers": _fat_headers,
    "endless-headers": _endless_headers,
    "garbage": _garbage,
    "cookie": _cookie,
    "token": _token,
    "guarded": _guarded,
    "order": _order,
}
