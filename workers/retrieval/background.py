"""Makes the background means that the package ships: the mean vector of everyday texts in three languages."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import numpy as np

from workers.retrieval.calibration import Vector
from workers.retrieval.embedder import Embedder


def background_texts() -> dict[str, list[str]]:
    """Return the shipped texts by kind: `asked` (as questions), `told` (as descriptions), all languages together."""
    path = resources.files(__package__) / "background.toml"
    languages = tomllib.loads(path.read_text(encoding="utf-8")).values()
    return {kind: [text for language in languages for text in language[kind]] for kind in ("asked", "told")}


async def measure_background(embedder: Embedder) -> dict[str, Vector]:
    """Embed the texts and return the mean of each kind, (d,) float32."""
    texts = background_texts()
    asked = await embedder.embed_queries(texts["asked"])
    told = await embedder.embed_passages(texts["told"])
    return {"asked": np.mean(asked, axis=0), "told": np.mean(told, axis=0)}


async def write_background(embedder: Embedder, folder: Path) -> Path:
    """Write `background.<model>.npz` into the folder and return its path."""
    path = folder / f"background.{embedder.card.model}.npz"
    means = await measure_background(embedder)
    np.savez(path, asked=means["asked"].astype(np.float32), told=means["told"].astype(np.float32))
    return path
