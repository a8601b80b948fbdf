"""Makes the background that the package ships: what everyday texts in three languages have in common."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import numpy as np

from workers.retrieval.calibration import Background, Kind, Vector
from workers.retrieval.embedder import Embedder


def background_texts() -> dict[str, dict[Kind, list[str]]]:
    """Return the shipped texts by language and kind: `asked` (as questions), `told` (as descriptions)."""
    path = resources.files(__package__) / "background.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


async def measure_background(embedder: Embedder) -> dict[Kind, Background]:
    """Embed the texts; the languages' directions are the principal axes of the languages' means."""
    texts = background_texts().values()
    asked = [np.mean(await embedder.embed_queries(one["asked"]), axis=0) for one in texts]
    told = [np.mean(await embedder.embed_passages(one["told"]), axis=0) for one in texts]
    return {"asked": _background(np.stack(asked)), "told": _background(np.stack(told))}


def _background(means: Vector) -> Background:
    """Derive mean and axes from the (languages, d) means; n languages differ in n - 1 directions."""
    mean = means.mean(axis=0)
    axes = np.linalg.svd(means - mean, full_matrices=False)[2]
    return Background(mean.astype(np.float32), axes[: len(means) - 1].astype(np.float32))


async def write_background(embedder: Embedder, folder: Path) -> Path:
    """Write `background.<model>.npz` into the folder and return its path."""
    path = folder / f"background.{embedder.card.model}.npz"
    found = await measure_background(embedder)
    np.savez(
        path,
        asked_mean=found["asked"].mean,
        asked_languages=found["asked"].languages,
        told_mean=found["told"].mean,
        told_languages=found["told"].languages,
    )
    return path
