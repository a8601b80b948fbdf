from __future__ import annotations

import pytest

from workers.indexing.openapi.document import DocumentRefused
from workers.indexing.openapi.importer import import_document


def test_yaml_dates_and_words_like_no_stay_texts() -> None:
    text = """
openapi: 3.0.0
info: {title: T}
servers: [{url: https://x.ee}]
paths:
  /a:
    get:
      parameters:
        - {name: lang, in: query, schema: {type: string, enum: [no, et], default: no}}
        - {name: day, in: query, schema: {type: string, default: 2026-01-01}}
"""
    (found,) = import_document(text).operations

    assert found.endpoint is not None
    assert found.endpoint["params"][0]["enum"] == ["no", "et"]
    assert found.endpoint["params"][1]["default"] == "2026-01-01"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "a mapping"),
        ("{", "neither JSON nor YAML"),
        ("[" * 100_000, "neither JSON nor YAML"),
        ("swagger: '1.2'", "not 1.2"),
        ("openapi: 3.0.0", "no paths"),
    ],
    ids=["empty", "cut off", "deep", "old", "pathless"],
)
def test_a_text_that_is_no_api_document_is_refused(text: str, reason: str) -> None:
    with pytest.raises(DocumentRefused, match=reason):
        import_document(text)
