"""What a stack may be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from ops.local import ports
from ops.local.supervisor import StackFailed
from workers.runtime.settings import Settings


@dataclass(frozen=True, kw_only=True)
class StackOptions:
    """One stack: its data folder, its ports, how many workers.

    Port 0 means any free one; a port that is occupied is replaced by a free one. An empty `redis_url` means: start a
    server of our own. `environment` is laid over the inherited one, for every part: so a test changes any setting.
    """

    data_dir: Path
    redis_url: str = ""
    host: str = "127.0.0.1"
    shim_port: int = 0
    redis_port: int = 0
    demo_port: int = 0
    workers: int = 1
    with_demo: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_settings(cls, settings: Settings, *, workers: int = 1, with_demo: bool = True) -> Self:
        """Take what the environment says. Raises StackFailed when a port that was asked for by name is taken."""
        asked = {
            "SHIM_PORT": ("port" in settings.shim.model_fields_set, settings.shim.port),
            "SIGNALBOX_REDIS_PORT": ("redis_port" in settings.local.model_fields_set, settings.local.redis_port),
            "SIGNALBOX_DEMO_PORT": ("demo_port" in settings.local.model_fields_set, settings.local.demo_port),
        }
        for variable, (is_asked, port) in asked.items():
            if is_asked and not ports.is_free(port):
                raise StackFailed(
                    f"{variable}={port} is taken by another program; stop that one or choose another port"
                )
        return cls(
            data_dir=settings.local.data_dir,
            redis_url=settings.redis.url if "url" in settings.redis.model_fields_set else "",
            host=settings.shim.host,
            shim_port=settings.shim.port,
            redis_port=settings.local.redis_port,
            demo_port=settings.local.demo_port,
            workers=workers,
            with_demo=with_demo,
        )
