"""A real HTTP API on loopback that answers after a delay and remembers every request (`GET /log`)."""

from __future__ import annotations

import argparse
import asyncio
import json
from urllib.parse import parse_qs, urlsplit

LOG: list[str] = []


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ", 2)
            length = next(
                (
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                ),
                0,
            )
            await reader.readexactly(length)
            parts = urlsplit(target)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/log":
                body = json.dumps(LOG)
            else:
                LOG.append(f"{method} {target}")
                await asyncio.sleep(float(query.pop("delay_ms", "200")) / 1000)
                body = json.dumps({"echo": query.get("ticket", ""), "price": 12.5})
            payload = body.encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(payload)
                + payload
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main(port: int) -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    asyncio.run(main(parser.parse_args().port))
