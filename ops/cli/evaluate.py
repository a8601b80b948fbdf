"""`signalbox eval`: measure on labelled cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ops.cli.judgements import judgements
from ops.cli.screen import CommandFailed, JsonFlag, UrlOption, console, group, print_json

if TYPE_CHECKING:
    from ops.evaluation.scoring import DialogueFigures, DialogueReport
    from workers.retrieval.evaluation import Report
    from workers.retrieval.figures import Figures

app = group("Measure on labelled cases.")
app.command()(judgements)


@app.callback()
def evaluate() -> None:
    """Measure on labelled cases."""


@app.command()
def retrieval(  # noqa: PLR0913 - one parameter an option
    registry: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="The endpoints.")],
    cases: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="The questions, one JSON a line.")],
    examples: Annotated[Path | None, typer.Option(exists=True, help="Example questions of the endpoints.")] = None,
    description_field: Annotated[str | None, typer.Option(help="Which description to index.")] = None,
    *,
    whole: Annotated[
        bool, typer.Option("--whole", help="Choose among all endpoints, even from few candidates.")
    ] = False,
    side_by_side: Annotated[bool, typer.Option("--compare", help="Words, n-grams, dense, RRF, hybrid.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Ask every question of CASES against REGISTRY and tell how often the right endpoint is found. Needs no Redis."""
    import asyncio

    from workers.retrieval import evaluation

    material = evaluation.Material(
        registry=registry, cases=cases, examples=examples, description_field=description_field, whole=whole
    )
    try:
        if side_by_side:
            compared = asyncio.run(evaluation.compare(material))
            ways = compared.ways
        else:
            ways = {"": asyncio.run(evaluation.evaluate(material))}
    except (ValueError, KeyError) as error:
        raise CommandFailed(
            f"these files can't be used: {error}", remedy="the head of workers/retrieval/questions.py shows the form"
        ) from error
    if as_json:
        print_json(
            {way: report.model_dump(mode="json") for way, report in ways.items()}
            if side_by_side
            else ways[""].model_dump(mode="json")
        )
    else:
        _print(ways)


@app.command()
def dialogues(  # noqa: PLR0913 - one option each
    registry: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="The endpoints.")],
    cases: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="The dialogues, one JSON a line.")],
    today: Annotated[
        str, typer.Option(help="The day on which they are held, as YYYY-MM-DD; the real one if empty.")
    ] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many.")] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Write what came of each turn here, one JSON a line.")
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help='Others\' figures as JSON: {"floor": {"slot_f1": 0.6}}.'),
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
        others = _others(beside) if beside else {}
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
        _print_dialogues(done.report, others)


@app.command()
def calls(
    dialogues_file: Annotated[
        Path | None,
        typer.Option("--dialogues", exists=True, dir_okay=False, help="A YAML list; the demo's if not given."),
    ] = None,
    url: UrlOption = "",
    *,
    as_json: JsonFlag = False,
) -> None:
    """Hold the demo's conversations with the running system and count what its turns ask of language models."""
    from ops.cli.client import Shim
    from ops.cli.place import shim_url
    from ops.evaluation.calls import DEMO_DIALOGUES, hold, read_conversations, report_on

    try:
        conversations = read_conversations(dialogues_file or DEMO_DIALOGUES)
        report = report_on(list(hold(Shim(shim_url(url)), conversations)))
    except ValueError as error:
        raise CommandFailed(
            f"these conversations can't be used: {error}", remedy="ops/demo/dialogues.yaml shows the form"
        ) from error
    if as_json:
        print_json(report.model_dump(mode="json"))
        return
    from rich.table import Table

    table = Table("", "conversations", "requests each", "most")
    for kind, counts in report.kinds.items():
        table.add_row(kind, str(counts.conversations), f"{counts.requests_mean:.2f}", str(counts.requests_most))
    console().print(table)
    typer.echo(
        f"{report.requests_mean:.2f} requests a conversation, none in {report.turns_without:.0%} of the turns;"
        f" {report.tokens} tokens, {report.usd:.6f} USD; {report.failed} turns failed"
    )


def _others(file: Path) -> dict[str, dict[str, float]]:
    """Read the figures of others, a column each. Raises ValueError for another form or a figure that we don't have."""
    import json

    from pydantic import TypeAdapter

    from ops.evaluation.scoring import DialogueFigures

    others = TypeAdapter(dict[str, dict[str, float]]).validate_python(json.loads(file.read_text(encoding="utf-8")))
    known = set(DialogueFigures.model_fields)
    strange = sorted({name for figures in others.values() for name in figures} - known)
    if strange:
        raise ValueError(f"no such figures: {', '.join(strange)}; there are {', '.join(sorted(known))}")
    return others


def _print_dialogues(report: DialogueReport, others: dict[str, dict[str, float]]) -> None:
    from rich.table import Table

    rows: dict[str, DialogueFigures] = {"all": report.overall, **report.languages}
    if len(report.tasks) > 1:
        rows |= report.tasks
    shown = [
        name for name in type(report.overall).model_fields if any(getattr(r, name) is not None for r in rows.values())
    ]
    table = Table("", *rows, *others)
    for name in shown:
        ours = (_number(getattr(figures, name)) for figures in rows.values())
        table.add_row(name.replace("_", " "), *ours, *(_number(told.get(name)) for told in others.values()))
    typer.echo(f"{report.model}, {report.endpoints} endpoints")
    console().print(table)


def _print(ways: dict[str, Report]) -> None:
    from rich.table import Table

    first = next(iter(ways.values()))
    names = list(type(first.overall).model_fields)
    table = Table("", "", *(name.replace("_", " ") for name in names))
    for language in ("all", *first.languages):
        for way, report in ways.items():
            found = report.overall if language == "all" else report.languages[language]
            table.add_row(language, way, *_row(found))
    typer.echo(f"{first.model}, {first.endpoints} endpoints")
    console().print(table)


def _row(found: Figures) -> list[str]:
    return [_number(getattr(found, name)) for name in type(found).model_fields]


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.3f}"
