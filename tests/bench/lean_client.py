"""A client thin enough not to be what is measured: one keep-alive connection, raw HTTP/1.1."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass

_TOKEN = b'"content":'


@dataclass
class LeanClient:
    """Posts turns to one server, one after another."""

    host: str
    port: int
    reader: asyncio.StreamReader | None = None
    writer: asyncio.StreamWriter | None = None

    async def first_token_s(self, chat_id: str) -> float:
        """Post one turn; return the seconds from the first byte sent to the first token received."""
        if self.writer is None or self.writer.is_closing():
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        assert self.reader is not None
        body = json.dumps({"chatId": chat_id, "message": "what is the answer"}).encode()
        head = f"POST /orchestrate/stream HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
        request = f"{head}Accept: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        began = time.perf_counter()
        self.writer.write(request)
        first: float | None = None
        seen = b""
        while not _is_whole(seen):
            chunk = await self.reader.read(65_536)
            if not chunk:
                self.writer.close()
                break
            seen += chunk
            if first is None and _TOKEN in seen.replace(b'": ', b'":'):
                first = time.perf_counter() - began
        assert first is not None, seen
        return first

    async def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def _is_whole(seen: bytes) -> bool:
    """Whether the chunked body has ended, or the server said that it closes after END."""
    return seen.endswith(b"0\r\n\r\n")
