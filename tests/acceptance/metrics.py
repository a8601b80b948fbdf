"""Reads a worker's counters as a monitoring system would."""

from __future__ import annotations

import httpx


def counted(port: int, name: str, **labels: str) -> float:
    """Sum a counter over the label values that are not named; 0.0 when it has not counted yet."""
    page = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text
    wanted = [f'{label}="{value}"' for label, value in labels.items()]
    lines = [line for line in page.splitlines() if line.startswith(f"{name}_total{{")]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if all(part in line for part in wanted))
