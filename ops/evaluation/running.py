"""Runs a labelled set: read, embed, play, score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

from ops.evaluation.cases import LabelledSet, Prediction, read_set
from ops.evaluation.playing import TENANT, Player
from ops.evaluation.scoring import DialogueReport, report
from ops.evaluation.shelf import Shelf
from workers.classification import language
from workers.retrieval.embedder import Embedder, open_embedder
from workers.runtime.settings import RetrievalSettings, RoutingSettings

_ZONE = ZoneInfo("Europe/Tallinn")
_NOON = time(12)


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """The figures, and what came of each turn."""

    report: DialogueReport
    predictions: Mapping[tuple[str, int], Prediction]


async def evaluate(
    registry: Path,
    cases: Path,
    *,
    today: date | None = None,
    limit: int | None = None,
    embedder: Embedder | None = None,
) -> Evaluated:
    """Play every dialogue of the cases on that day, at noon in Tallinn, and score it. Touches no Redis and no HTTP.

    The embedder is the settings' unless one is given (then it stays open). Raises ValueError for files of another form.
    """
    labelled = read_set(registry, cases, tenant=TENANT, limit=limit)
    opened = embedder or open_embedder(RetrievalSettings())
    shelf = Shelf(opened, RoutingSettings())
    language.warm_up()
    try:
        await shelf.fill(labelled.endpoints)
        predictions = await _play(labelled, shelf, _noon(today))
    finally:
        await shelf.close()
        if embedder is None:
            await opened.close()
    scored = report(labelled.cases, predictions, endpoints=labelled.endpoints, model=opened.card.tag)
    return Evaluated(report=scored, predictions=predictions)


async def _play(labelled: LabelledSet, shelf: Shelf, now: datetime) -> dict[tuple[str, int], Prediction]:
    player = Player(shelf=shelf, routing=RoutingSettings(), now=now)
    return {(one.id, one.turn): one for case in labelled.cases for one in await player.play(case)}


def _noon(today: date | None) -> datetime:
    return datetime.combine(today, _NOON, tzinfo=_ZONE) if today else datetime.now(_ZONE)
