"""What a model's tokens cost, by a price list that the operator may replace."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_SHIPPED = Path(__file__).with_name("prices.toml")
_PER = 1_000_000


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens."""

    input_usd: float
    output_usd: float


@dataclass(frozen=True)
class PriceList:
    """Prices by the beginning of a model's name, without its provider ("gpt-4.1-mini" also for a dated version)."""

    prices: Mapping[str, Price]

    @classmethod
    def read(cls, own: Path | None = None) -> PriceList:
        """Read the shipped list, and the operator's over it. Raises ValueError, naming the file and line's model."""
        prices = _read(_SHIPPED)
        return cls(prices | _read(own) if own else prices)

    def cost_usd(self, model: str, *, prompt_tokens: int, completion_tokens: int) -> float:
        """Return what those tokens cost; 0.0 for a model without a price."""
        name = model.rpartition("/")[2]
        fitting = [start for start in self.prices if name.startswith(start)]
        if not fitting:
            return 0.0
        price = self.prices[max(fitting, key=len)]
        return (prompt_tokens * price.input_usd + completion_tokens * price.output_usd) / _PER


def _read(path: Path) -> dict[str, Price]:
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"the price list {path} cannot be read: {error}") from error
    prices: dict[str, Price] = {}
    for model, price in listed.items():
        try:
            prices[model] = Price(float(price["input"]), float(price["output"]))
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(
                f"the price list {path}: [{model!r}] needs `input` and `output`, dollars per million tokens"
            ) from error
    return prices
