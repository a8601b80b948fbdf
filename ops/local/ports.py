"""Free ports on loopback."""

from __future__ import annotations

import socket


def is_free(port: int) -> bool:
    """Whether a server may listen on the port now (it may be taken a moment later)."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wanted_or_free(port: int) -> int:
    """Return the wanted port, or another one when it is taken or 0."""
    return port if port and is_free(port) else free_port()
