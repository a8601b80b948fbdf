"""`signalbox eval judgements`: how well a model judges, beside the rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ops.cli.screen import CommandFailed, JsonFlag, console, print_json

if TYPE_CHECKING:
    from ops.evaluation.judging import JudgementReport


def judgements(
    names: Annotated[list[str] | None, typer.Argument(help="Which judgements; all that have cases if none.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many cases of each, spread over the languages.")
    ] = None,
    keep: Annotated[Path | None, typer.Option(help="Write the result here, as JSON.")] = None,
    against: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="A kept result, to compare.")
    ] = None,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Put labelled cases to the configured model and to the rules: accuracy, agreement, latency, cost."""
    import asyncio

    from pydantic import ValidationError

    from ops.cli.place import checked_settings
    from ops.evaluation.judges import JUDGES
    from ops.evaluation.judging import JudgementReport, evaluate

    wanted = [name for name in JUDGES if not names or name in names]
    unknown = sorted(set(names or ()) - set(JUDGES))
    if unknown:
        raise CommandFailed(f"there are no cases of {', '.join(unknown)}", remedy=f"choose from {', '.join(JUDGES)}")
    try:
        before = JudgementReport.model_validate_json(against.read_bytes()) if against else None
        report = asyncio.run(evaluate(checked_settings(), wanted, limit=limit))
    except ValidationError as error:
        raise CommandFailed(f"{against} is no kept result: {error.errors()[0]['msg']}") from error
    except ValueError as error:
        raise CommandFailed(str(error)) from error
    if keep:
        keep.parent.mkdir(parents=True, exist_ok=True)
        keep.write_text(report.model_dump_json(indent=2), encoding="utf-8")
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _print(report, before)


def _print(report: JudgementReport, before: JudgementReport | None) -> None:
    from rich.table import Table

    table = Table("judgement", "", "cases", "model", "before", "rules", "alike", "gave nothing", "ms p50", "USD")
    for name, result in report.judgements.items():
        earlier = before.judgements.get(name) if before else None
        for label, figures in {"all": result.overall, **result.languages}.items():
            then = (earlier.overall if label == "all" else earlier.languages.get(label)) if earlier else None
            table.add_row(
                name if label == "all" else "", label, str(figures.cases), f"{figures.accuracy:.3f}",
                f"{then.accuracy:.3f}" if then else "–", f"{figures.rules_accuracy:.3f}", f"{figures.agreement:.3f}",
                f"{figures.failed:.3f}", f"{figures.latency_p50_ms:.0f}",
                f"{result.usd:.6f}" if label == "all" else "",
            )  # fmt: skip
    console().print(table)
    compared = f", compared with {before.model} of {before.at:%Y-%m-%d %H:%M}" if before else ""
    typer.echo(f"{report.model}{compared}")
