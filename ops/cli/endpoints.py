"""`signalbox endpoints`: what is registered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.screen import JsonFlag, UrlOption, console, group, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.cli.client import Shim

app = group("List, show and delete registered endpoints.", needs_command=False)
EndpointId = Annotated[str, typer.Argument(help="The endpoint's id.")]
_PAGE = 100


@app.callback(invoke_without_command=True)
def endpoints(context: typer.Context, url: UrlOption = "", *, as_json: JsonFlag = False) -> None:
    """List the registered endpoints and whether search finds them."""
    if context.invoked_subcommand:
        return
    found = list(_all(_shim(url)))
    if as_json:
        print_json(found)
        return
    from rich.table import Table

    table = Table("name", "state", "id")
    table.add_column("description", no_wrap=True, overflow="ellipsis")
    for one in found:
        state = f"{one['state']}: {one['reason']}" if one.get("reason") else one["state"]
        table.add_row(one["name"], state, one["endpointId"], one["description"])
    console().print(table)
    typer.echo(f"{len(found)} endpoints")


@app.command()
def show(endpoint_id: EndpointId, url: UrlOption = "", *, as_json: JsonFlag = False) -> None:
    """Show one endpoint as it is registered."""
    found = _shim(url).request("GET", f"/api-tools/{endpoint_id}")
    if as_json:
        print_json(found)
        return
    import yaml

    typer.echo(yaml.safe_dump(found, allow_unicode=True, sort_keys=False), nl=False)


@app.command()
def delete(endpoint_id: EndpointId, url: UrlOption = "", *, as_json: JsonFlag = False) -> None:
    """Take an endpoint out of the registry and out of search."""
    answer = _shim(url).request("DELETE", f"/api-tools/{endpoint_id}")
    if as_json:
        print_json(answer or {"endpointId": endpoint_id, "deleted": True})
    else:
        typer.echo(f"deleted {endpoint_id}")


def _shim(url: str) -> Shim:
    from ops.cli.client import Shim
    from ops.cli.place import shim_url

    return Shim(shim_url(url))


def _all(shim: Shim) -> Iterator[dict[str, Any]]:
    """Walk the pages of the listing."""
    offset = 0
    while True:
        page = shim.request("GET", "/api-tools", params={"offset": offset, "limit": _PAGE})
        items = page["items"]
        yield from items
        offset += len(items)
        if not items or offset >= page["total"]:
            return
