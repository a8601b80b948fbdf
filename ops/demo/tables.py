"""Reads the tables of names and places that stand beside the code as YAML."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import yaml


@cache
def table(name: str) -> Any:
    """Return the parsed table `data/<name>.yaml`."""
    return yaml.safe_load((resources.files(__package__) / "data" / f"{name}.yaml").read_text(encoding="utf-8"))
