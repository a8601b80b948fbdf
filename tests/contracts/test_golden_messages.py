"""What was written yesterday must still be read: each message type has at least one golden file.

When a field is added, add a file (`turns.Turn.2.json`); an old file is never changed, for such messages lie in
somebody's Redis. A field that no file carries, or that a file carries and nobody reads, fails here.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path
from typing import Any

import pytest
from pydantic import AliasChoices, BaseModel

import schemas
from schemas.base import DoorModel, Frozen

GOLDEN = Path(__file__).parent / "golden"


def _models() -> dict[str, type[BaseModel]]:
    found: dict[str, type[BaseModel]] = {}
    for info in pkgutil.iter_modules(schemas.__path__):
        module = importlib.import_module(f"schemas.{info.name}")
        for name, member in vars(module).items():
            is_ours = isinstance(member, type) and issubclass(member, Frozen | DoorModel)
            if is_ours and member.__module__ == module.__name__ and member not in (Frozen, DoorModel):
                found[f"{info.name}.{name}"] = member
    return found


MODELS = _models()
FILES = sorted(GOLDEN.glob("*.json"))


def _model_of(file: Path) -> str:
    return ".".join(file.name.split(".")[:2])


def _spellings(name: str, model: type[BaseModel]) -> set[str]:
    field = model.model_fields[name]
    alias = field.validation_alias or field.alias
    others = alias.choices if isinstance(alias, AliasChoices) else [alias]
    return {name, *(str(other) for other in others if other)}


def _is_kept(given: Any, read: Any) -> bool:
    """Whether everything given is found again in what was read."""
    if isinstance(given, dict) and isinstance(read, dict):
        return all(key in read and _is_kept(value, read[key]) for key, value in given.items())
    if isinstance(given, list) and isinstance(read, list):
        return len(given) == len(read) and all(map(_is_kept, given, read))
    return bool(given == read)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_field_of_every_message_stands_in_a_golden_file(name: str) -> None:
    files = [json.loads(file.read_text(encoding="utf-8")) for file in FILES if _model_of(file) == name]
    carried = {key for content in files for key in content}

    assert files, f"add tests/contracts/golden/{name}.json"
    missing = [field for field in MODELS[name].model_fields if not _spellings(field, MODELS[name]) & carried]
    assert not missing, f"add another golden file of {name} that carries {missing}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_yesterdays_payload_is_still_read_whole(file: Path) -> None:
    model, text = MODELS[_model_of(file)], file.read_text(encoding="utf-8")

    message = model.model_validate_json(text)

    given = json.loads(text)
    readings = [message.model_dump(mode="json", by_alias=by_alias) for by_alias in (True, False)]
    assert any(_is_kept(given, reading) for reading in readings), readings


@pytest.mark.parametrize("name", sorted(name for name, model in MODELS.items() if issubclass(model, Frozen)))
def test_inside_the_house_an_unknown_field_is_refused(name: str) -> None:
    file = GOLDEN / f"{name}.json"
    given = json.loads(file.read_text(encoding="utf-8")) | {"surprise": 1}

    with pytest.raises(ValueError, match="surprise"):
        MODELS[name].model_validate_json(json.dumps(given))


@pytest.mark.parametrize("name", sorted(name for name, model in MODELS.items() if issubclass(model, DoorModel)))
def test_at_the_door_an_unknown_field_is_ignored(name: str) -> None:
    given = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))

    with_surprise = MODELS[name].model_validate_json(json.dumps(given | {"surprise": 1}))

    assert with_surprise == MODELS[name].model_validate_json(json.dumps(given))
