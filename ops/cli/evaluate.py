"""`signalbox eval`: measure on labelled cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ops.cli.screen import CommandFailed, JsonFlag, console, group, print_json

if TYPE_CHECKING:
    from ops.evaluation.scoring import DialogueFigures, DialogueReport
    from workers.retrieval.evaluation import Report

app = group("Measure on labelled cases.")


@app.callback()
def evaluate() -> None:
    """Measure on labelled cases."""


@app.command()
def retrieval(
    registry: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="The endpoints.")],
    cases: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="The questions, one JSON a line.")],
    examples: Annotated[Path | None, typer.Option(exists=True, help="Example questions of the endpoints.")] = None,
    description_field: Annotated[str | None, typer.Option(help="Which description to index.")] = None,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Ask every question of CASES against REGISTRY and tell how often the right endpoint is found. Needs no Redis."""
    import asyncio

    from workers.retrieval import evaluation

    try:
        report = asyncio.run(
            evaluation.evaluate(registry, cases, examples_path=examples, description_field=description_field)
        )
    except (ValueError, KeyError) as error:
        raise CommandFailed(
            f"these files can't be used: {error}", remedy="the head of workers/retrieval/evaluation.py shows the form"
        ) from error
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _print(report)


@app.command()
def dialogues(
    registry: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="The endpoints.")],
    cases: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="The dialogues, one JSON a line.")],
    today: Annotated[
        str, typer.Option(help="The day on which they are held, as YYYY-MM-DD; the real one if empty.")
    ] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many.")] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Write what came of each turn here, one JSON a line.")
    ] = None,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Play every dialogue of CASES against REGISTRY and tell how often the right calls, values and questions come.

    Uses no LLM, no Redis and no HTTP: the rules and the embedded model in this process.
    """
    import asyncio
    from datetime import date

    from ops.evaluation.cases import write_predictions
    from ops.evaluation.running import evaluate as play

    try:
        day = date.fromisoformat(today) if today else None
        done = asyncio.run(play(registry, cases, today=day, limit=limit))
    except (ValueError, KeyError) as error:
        raise CommandFailed(
            f"these can't be used: {error}", remedy="the head of ops/evaluation/cases.py shows the form"
        ) from error
    if predictions:
        write_predictions(predictions, done.predictions)
    if as_json:
        print_json(done.report.model_dump(mode="json"))
    else:
        _print_dialogues(done.report)


def _print_dialogues(report: DialogueReport) -> None:
    from rich.table import Table

    rows: dict[str, DialogueFigures] = {"all": report.overall, **report.languages}
    if len(report.tasks) > 1:
        rows |= report.tasks
    shown = [
        name for name in type(report.overall).model_fields if any(getattr(r, name) is not None for r in rows.values())
    ]
    table = Table("", *rows)
    for name in shown:
        table.add_row(name.replace("_", " "), *(_number(getattr(figures, name)) for figures in rows.values()))
    typer.echo(f"{report.model}, {report.endpoints} endpoints")
    console().print(table)


def _print(report: Report) -> None:
    from rich.table import Table

    rows = {"all": report.overall, **report.languages}
    names = list(type(report.overall).model_fields)
    table = Table("", *(name.replace("_", " ") for name in names))
    for label, figures in rows.items():
        table.add_row(label, *(_number(value) for value in figures.model_dump().values()))
    typer.echo(f"{report.model}, {report.endpoints} endpoints")
    console().print(table)


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.3f}"
