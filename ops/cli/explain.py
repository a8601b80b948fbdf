"""`signalbox explain`: why a text is routed as it is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ops.cli.screen import JsonFlag, UrlOption, console, print_json


def explain(
    text: Annotated[str, typer.Argument(help="What somebody might say.")],
    url: UrlOption = "",
    limit: Annotated[int, typer.Option(min=1, max=50, help="How many candidates to show.")] = 5,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Show the candidates for TEXT with all scores, their bands, the rule that fires, and what it costs."""
    from ops.cli.client import Shim
    from ops.cli.place import shim_url

    told = Shim(shim_url(url)).request("POST", "/explain", json={"query": text, "top_k": limit})
    if as_json:
        print_json(told)
    else:
        _print(told)


def _print(told: dict[str, Any]) -> None:
    from rich.table import Table

    chosen = ", ".join(told["chosen"]) or "nothing"
    typer.echo(f"{told['layer']} ({told['language']}), rule {told['rule']}: {chosen}")
    for label in ("parts", "unmatched", "later"):
        for part in told[label]:
            typer.echo(f"  {label}: {part}")
    table = Table("endpoint", "name", "dense", "words", "order", "score", "band")
    for one in told["candidates"]:
        scores = (f"{one[key]:.3f}" for key in ("dense", "lexical", "fused", "score"))
        table.add_row(one["endpoint_id"], one["name"], *scores, one["band"] or "no match")
    console().print(table)
    limits, cost = told["limits"], told["cost"]
    typer.echo(f"a match from {limits['match']}, clear from {limits['clear']} with a lead of {limits['lead']}")
    typer.echo(
        f"{told['model']}: search {cost['search_ms']} ms, rules {cost['decide_ms']} ms, "
        f"questions for a language model: {cost['model_calls']}"
    )
