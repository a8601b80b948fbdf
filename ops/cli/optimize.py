"""`signalbox optimize`: compile a judgement's program for the configured model, as a version."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Annotated

import typer

from ops.cli.screen import CommandFailed, JsonFlag, print_json


def optimize(
    judgement: Annotated[str, typer.Argument(help="Which: those of `signalbox eval judgements`.")],
    version: Annotated[str, typer.Option(help="The version's name: letters, digits, dots, dashes, underscores.")],
    most: Annotated[int, typer.Option(min=1, max=16, help="Worked examples at most.")] = 4,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Give the model's prompt examples that it got right itself, measure on cases kept back, and keep the program."""
    from ops.cli.place import checked_settings
    from ops.evaluation.compiling import compile_program
    from ops.evaluation.judges import JUDGES

    wanted = next((name for name in JUDGES if name == judgement), None)
    if wanted is None:
        raise CommandFailed(f"{judgement!r} cannot be compiled", remedy=f"choose from {', '.join(JUDGES)}")
    settings = checked_settings()
    try:
        with redirect_stdout(sys.stderr):  # the optimiser prints its progress
            done = compile_program(wanted, settings, version=version, most=most)
    except ValueError as error:
        raise CommandFailed(str(error)) from error
    if as_json:
        print_json(done.model_dump(mode="json"))
        return
    typer.echo(
        f"{done.path}: {done.examples} examples; accuracy on {done.held_back} cases kept back"
        f" {done.accuracy_before:.3f} before, {done.accuracy_after:.3f} after"
    )
    typer.echo(f'use it with LLM_PROGRAMS=\'{{"{wanted}": "{version}"}}\'')
