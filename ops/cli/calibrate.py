"""`signalbox calibrate`: what the model's scores mean for the registered endpoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ops.cli.screen import CommandFailed, JsonFlag, console, print_json

if TYPE_CHECKING:
    import redis.asyncio as aioredis

    from schemas.endpoints import Endpoint
    from workers.retrieval.fitting import Fit
    from workers.runtime.settings import Settings

_PAGE = 200
_BAR = 20


def calibrate(
    out_of_domain: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Questions nothing here answers, one a line.")
    ] = None,
    tenant: Annotated[str, typer.Option(help="Whose endpoints.")] = "default",
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Keep the curve; workers take it when they start.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Forget a kept curve; the shipped one holds again.")] = False,
    png: Annotated[Path | None, typer.Option(dir_okay=False, help="Draw the curves into this PNG file.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Measure precision and recall over the threshold, and fit the scores so that 0.40 and 0.60 keep their meaning.

    Asks the endpoints' own examples, each left out of its endpoint, and questions that nothing here answers (by
    default shipped ones of everyday life).
    """
    from ops.cli.place import with_redis
    from workers.retrieval.fitting import TooFewQuestions, everyday_questions

    if reset:
        with_redis(_forget)
        typer.echo("the shipped curve holds again, once the workers are started anew")
        return
    foreign = _lines(out_of_domain) if out_of_domain else everyday_questions()
    try:
        found = with_redis(lambda redis, given: _measure(redis, given, tenant, foreign=foreign, apply=apply))
    except TooFewQuestions as few:
        raise CommandFailed(str(few), remedy="give the endpoints `examples`, and --out-of-domain a file") from few
    if png:
        _draw(found, png)
    if as_json:
        print_json({**found.model_dump(mode="json"), "applied": apply})
    else:
        _print(found, applied=apply)


def _lines(file: Path) -> list[str]:
    return [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


async def _measure(redis: aioredis.Redis, given: Settings, tenant: str, *, foreign: list[str], apply: bool) -> Fit:
    from workers.registry.store import RegistryStore
    from workers.retrieval.embedder import open_embedder
    from workers.retrieval.fitting import Bench, fit
    from workers.runtime.keys import Keys

    registry = RegistryStore(redis, Keys(given.redis.key_prefix))
    endpoints: list[Endpoint] = []
    while page := await registry.list(tenant, offset=len(endpoints), limit=_PAGE):
        endpoints += [one.endpoint for one in page]
    if not endpoints:
        raise CommandFailed("no endpoints are registered", remedy="register some with `signalbox index FILE`")
    embedder = open_embedder(given.retrieval)
    try:
        found = fit(await Bench(endpoints, embedder).ask_all(foreign), embedder.card)
    finally:
        await embedder.close()
    if apply:
        await registry.set_curve(found.model, found.curve)
    return found


async def _forget(redis: aioredis.Redis, given: Settings) -> None:
    from workers.registry.store import RegistryStore
    from workers.retrieval.calibration import card_of
    from workers.runtime.keys import Keys

    await RegistryStore(redis, Keys(given.redis.key_prefix)).set_curve(card_of(given.retrieval.embedder).tag, None)


def _print(found: Fit, *, applied: bool) -> None:
    from rich.table import Table

    table = Table("evidence", "score", "precision", "recall", "outside answered")
    for point in found.points:
        shares = (point.precision, point.recall, point.outside_answered)
        table.add_row(f"{point.evidence:.3f}", f"{point.score:.2f}", *(_bar(share) for share in shares))
    typer.echo(f"{found.model}: {found.inside} examples, {found.outside} questions that nothing answers")
    console().print(table)
    (_, (match, _), (clear, _), _) = found.curve
    typer.echo(f"a match (0.40) from evidence {match:.3f}, a clear one (0.60) from {clear:.3f}")
    typer.echo("kept; workers take it when they start" if applied else "nothing was changed; --apply keeps it")


def _draw(found: Fit, file: Path) -> None:
    from ops.cli.plot import plot

    (_, (match, _), (clear, _), _) = found.curve
    lines = {
        "precision": [(point.evidence, point.precision) for point in found.points],
        "recall": [(point.evidence, point.recall) for point in found.points],
        "outside answered": [(point.evidence, point.outside_answered) for point in found.points],
    }
    try:
        file.write_bytes(plot(lines, {"match": match, "clear": clear}, axis="evidence"))
    except OSError as error:
        raise CommandFailed(f"{file} can't be written: {error}", remedy="give --png a file in a folder") from error


def _bar(share: float) -> str:
    return f"{share:.2f} {'█' * round(share * _BAR)}"
