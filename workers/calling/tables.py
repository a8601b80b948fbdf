"""CSV → a list of rows by column name. Pure. Source: RFC 4180, and the semicolons and tabs of European exports."""

from __future__ import annotations

import csv
import io

from schemas.base import JsonValue

_DELIMITERS = ",;\t|"


class TableUnreadable(Exception):
    """Not a table."""


def read_csv(text: str, *, delimiter: str | None = None) -> JsonValue:
    """Return a list of objects; values stay text, missing ones are null. The first row names the columns.

    A row longer than the header keeps its surplus under `column 4`, `column 5` and so on. Raises TableUnreadable.
    """
    chosen = delimiter or _delimiter(text)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=chosen) if any(row)]
    except csv.Error as error:
        raise TableUnreadable(str(error)) from error
    if not rows:
        return []
    names = _names(rows[0], width=max(map(len, rows)))
    return [
        {name: row[at] if at < len(row) and row[at] != "" else None for at, name in enumerate(names)}
        for row in rows[1:]
    ]


def _delimiter(text: str) -> str:
    """Take the mark that the header row holds most often outside quotes."""
    header = text.lstrip("\r\n").partition("\n")[0]
    outside = "".join(header.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)


def _names(header: list[str], *, width: int) -> list[str]:
    names: list[str] = []
    for at in range(width):
        name = header[at].strip() if at < len(header) else ""
        names.append(name if name and name not in names else f"column {at + 1}")
    return names
