from __future__ import annotations

import socket

from ops.local import ports


def test_a_taken_port_is_replaced_by_a_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = int(taken.getsockname()[1])

        assert not ports.is_free(port)
        assert ports.wanted_or_free(port) != port

    assert ports.wanted_or_free(port) == port
