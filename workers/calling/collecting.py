"""Gathers the chunks of an answer under two caps: bytes received, and bytes they become. Pure."""

from __future__ import annotations

import zlib

from workers.calling.bodies import BodyUnreadable

_STEP_BYTES = 64 * 1024
_ZLIB_METHOD = 8


class BodyTooLarge(Exception):
    """More bytes than the cap, on the wire or once decompressed."""


class BodyCollector:
    """Takes chunks, gives the decompressed whole; a gzip bomb is cut at the cap, whatever it would have become.

    Raises:
        BodyTooLarge: at once when the declared length says so, else with the chunk that passes the cap.
        BodyUnreadable: an encoding that was not asked for, broken or unfinished compression.
    """

    def __init__(self, *, length: str, encoding: str, max_bytes: int) -> None:
        if length.isdecimal() and int(length) > max_bytes:
            raise BodyTooLarge
        self._encoding = encoding.strip().lower()
        if self._encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise BodyUnreadable("an encoding that was not asked for")
        self._max_bytes = max_bytes
        self._received = 0
        self._body = bytearray()
        # zlib's class has no public name; its factory does.
        self._inflater = None if self._encoding in ("", "identity") else zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._has_begun = False

    def feed(self, chunk: bytes) -> None:
        if not chunk:
            return
        self._received += len(chunk)
        if self._received > self._max_bytes:
            raise BodyTooLarge
        if self._inflater is None:
            self._body += chunk
            return
        if not self._has_begun and self._encoding == "deflate":
            # Servers mean two things by deflate: a zlib stream (its first byte names the method), or a raw one.
            is_zlib = chunk[0] & 0x0F == _ZLIB_METHOD
            self._inflater = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
        self._has_begun = True
        self._inflate(chunk)

    def finish(self) -> bytes:
        if self._inflater is not None and self._has_begun and not self._inflater.eof:
            raise BodyUnreadable("unfinished compression")
        return bytes(self._body)

    def _inflate(self, chunk: bytes) -> None:
        if self._inflater is None:
            return
        while chunk:
            try:
                self._body += self._inflater.decompress(chunk, _STEP_BYTES)
            except zlib.error as error:
                raise BodyUnreadable("broken compression") from error
            if len(self._body) > self._max_bytes:
                raise BodyTooLarge
            chunk = self._inflater.unconsumed_tail
