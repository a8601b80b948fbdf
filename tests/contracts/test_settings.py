"""Every setting stands in README with its default, and README names no setting that does not exist."""

from __future__ import annotations

import re

import pytest
from pydantic_settings import BaseSettings

from tests.contracts.sources import PACKAGES, REPOSITORY, tracked
from workers.runtime import settings

GROUPS = [
    member
    for member in vars(settings).values()
    if isinstance(member, type) and issubclass(member, BaseSettings) and member not in (BaseSettings, settings.Settings)
]
ROW = re.compile(r"^\| `([A-Z][A-Z0-9_]+)` \| (.*?) \| (.+?) \|$", re.MULTILINE)


def _variables() -> dict[str, object]:
    found: dict[str, object] = {}
    for group in GROUPS:
        prefix = group.model_config["env_prefix"]
        for name, field in group.model_fields.items():
            found[str(field.validation_alias or f"{prefix}{name}".upper())] = field.get_default()
    return found


VARIABLES = _variables()


def _documented() -> dict[str, str]:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    return {name: default.strip("` ") for name, default, _ in ROW.findall(text)}


@pytest.mark.parametrize("variable", sorted(VARIABLES))
def test_every_setting_has_a_line_in_the_readme(variable: str) -> None:
    assert variable in _documented()


def test_the_readme_names_no_setting_that_does_not_exist() -> None:
    assert set(_documented()) - set(VARIABLES) == set()


@pytest.mark.parametrize("variable", sorted(VARIABLES))
def test_the_readme_tells_the_true_default(variable: str) -> None:
    default = VARIABLES[variable]
    shown = _documented()[variable]

    if default is None or default == "":
        assert shown in ("", "–")
    elif variable == "SIGNALBOX_DATA_DIR":
        assert shown == "~/.local/share/signalbox"
    elif isinstance(default, bool):
        assert shown == str(default).lower()
    elif isinstance(default, int | float):
        assert float(shown.replace(" ", "")) == default
    else:
        assert shown == str(default)


def test_every_setting_is_read_somewhere() -> None:
    files = (file for package in PACKAGES for file in tracked(f"{package}/**.py") if file.name != "settings.py")
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    names = [f"{group.__name__}.{name}" for group in GROUPS for name in group.model_fields]

    assert [name for name in names if not re.search(rf"\.{name.rpartition('.')[2]}\b", code)] == []
