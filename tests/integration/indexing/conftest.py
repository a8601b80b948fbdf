"""Stacks whose workers index; the embedder is the house's smallest, so that the machinery is what takes time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ops.local.options import StackOptions
from ops.local.stack import Stack
from tests.conftest import free_port

StartStack = Callable[..., Stack]


@pytest.fixture
def start_stack(tmp_path: Path) -> Iterator[StartStack]:
    """Start a stack with so many workers and such settings; it stops with the test."""
    with ExitStack() as open_stacks:

        def start(*, workers: int = 1, **environment: str) -> Stack:
            options = StackOptions(
                data_dir=tmp_path / "stack",
                shim_port=free_port(),
                with_demo=False,
                workers=workers,
                environment={"RETRIEVAL_EMBEDDER": "letters", **environment},
            )
            return open_stacks.enter_context(Stack(options))

        yield start
