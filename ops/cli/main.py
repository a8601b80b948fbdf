"""The `signalbox` command.

Exit codes: 0 well, 1 what was asked could not be done, 2 the command line can't be read, 3 the system can't be reached.
"""

from __future__ import annotations

from ops.cli import (
    breakers,
    cache,
    calibrate,
    demo,
    doctor,
    endpoints,
    evaluate,
    explain,
    failed,
    import_openapi,
    index,
    optimize,
    reindex,
    similar,
    sources,
    talk,
    turn,
    up,
    usage,
)
from ops.cli.screen import group

app = group("Signalbox: a chat frontend calls APIs in conversation. Start with `signalbox up` or `signalbox demo`.")
app.command()(up.up)
app.command()(demo.demo)
app.command()(index.index)
app.command("import")(import_openapi.import_openapi)
app.command()(reindex.reindex)
app.command()(similar.similar)
app.command()(talk.ask)
app.command()(talk.chat)
app.add_typer(endpoints.app, name="endpoints")
app.add_typer(sources.app, name="sources")
app.add_typer(turn.app, name="turn")
app.add_typer(failed.app, name="failed")
app.add_typer(breakers.app, name="breakers")
app.add_typer(cache.app, name="cache")
app.add_typer(evaluate.app, name="eval")
app.command()(explain.explain)
app.command()(calibrate.calibrate)
app.command()(usage.usage)
app.command()(optimize.optimize)
app.command()(doctor.doctor)

if __name__ == "__main__":
    app()
