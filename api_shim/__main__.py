"""Runs the door: `python -m api_shim`. Host and port are SHIM_HOST and SHIM_PORT."""

from __future__ import annotations

import uvicorn

from workers.runtime.settings import settings

GRACE_S = 10


def main() -> None:
    """Serve until SIGTERM; open streams say farewell at once, waiting requests have GRACE_S to finish."""
    shim = settings().shim
    uvicorn.run(
        "api_shim.app:create_app",
        factory=True,
        host=shim.host,
        port=shim.port,
        log_config=None,  # the app sets logging up
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=30,
    )


if __name__ == "__main__":
    main()
