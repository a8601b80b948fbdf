"""Runs a command that ends when its parent ends, however the parent dies (kill -9 included).

    python -I -S launch.py PARENT_PID SIGNAL COMMAND…

A launcher, not `preexec_fn`: code between fork and exec may deadlock in a process that has threads. The wish survives
the exec (prctl(2), PR_SET_PDEATHSIG). On systems without prctl the command simply runs.
"""

from __future__ import annotations

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Become the command."""
    parent, signal, *command = arguments
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal), 0, 0, 0)
        # The parent may have died before the wish was spoken; then nobody would ever send the signal.
        if os.getppid() != int(parent):
            sys.exit(1)
    os.execvp(command[0], command)  # noqa: S606 - the supervisor gives the command, no shell is wanted


if __name__ == "__main__":
    main(sys.argv[1:])
