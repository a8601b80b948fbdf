"""Documents in several files, and documents of several megabytes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from workers.indexing.openapi.beside import from_folder, texts_beside
from workers.indexing.openapi.importer import import_document

HEAD: dict[str, Any] = {"openapi": "3.1.0", "info": {"title": "T"}, "servers": [{"url": "https://api.ee"}]}
OK = {"responses": {"200": {"description": "fine"}}}


def json_body(schema: Any) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


async def test_other_files_of_the_folder_are_read_and_nothing_outside_of_it(tmp_path: Path) -> None:
    home = tmp_path / "api"
    (home / "parts").mkdir(parents=True)
    (tmp_path / "secret.yaml").write_text("Key: {type: string, default: hidden}", encoding="utf-8")
    (home / "parts" / "pet.yaml").write_text(
        "Pet: {type: object, properties: {name: {$ref: 'words.json#/Name'}, mate: {$ref: '#/Pet'}}}", encoding="utf-8"
    )
    (home / "parts" / "words.json").write_text('{"Name": {"type": "integer"}}', encoding="utf-8")
    parameters = [{"name": "key", "in": "query", "schema": {"$ref": "../secret.yaml#/Key"}}]
    operation = {**OK, "parameters": parameters, **json_body({"$ref": "parts/pet.yaml#/Pet"})}
    text = json.dumps({**HEAD, "paths": {"/pets": {"post": operation}}})

    others = await texts_beside(text, from_folder(home))
    (found,) = import_document(text, others=others).operations

    assert set(others) == {"parts/pet.yaml", "parts/words.json"}
    assert {param.name: (param.place, param.type, param.required) for param in found.params} == {
        "key": ("query", "string", False),
        "name": ("body", "integer", False),
        "mate": ("body", "object", False),
    }
    assert "hidden" not in json.dumps(found.endpoint)


def test_five_megabytes_are_read_in_bounded_time() -> None:
    schema = {"type": "object", "properties": {f"p{n}": {"type": "string", "description": "x" * 40} for n in range(20)}}
    paths = {f"/a/{n}/{{id}}": {"post": {**OK, "operationId": f"op{n}", **json_body(schema)}} for n in range(2_400)}
    text = json.dumps({**HEAD, "paths": paths})
    assert len(text) > 4_500_000

    began = time.process_time()
    found = import_document(text)

    assert len(found.registrations) == 2_400
    assert time.process_time() - began < 60
