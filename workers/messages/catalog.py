"""Looks up a sentence by key and language.

Keys are `section.name` of the TOML files. A key missing in et or ru falls back to English; a key missing in English
raises KeyError (a test holds the three files to the same keys and placeholders).
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from schemas.endpoints import Language


@cache
def _sentences(language: Language) -> dict[str, str | list[str]]:
    """Read `<language>.toml` and every `<language>.<room>.toml` beside it into one flat table."""
    flat: dict[str, str | list[str]] = {}
    for file in sorted(resources.files(__package__).iterdir(), key=lambda f: f.name):
        if not (file.name.endswith(".toml") and file.name.split(".")[0] == language):
            continue
        for section, entries in tomllib.loads(file.read_text(encoding="utf-8")).items():
            for name, value in entries.items():
                flat[f"{section}.{name}"] = value
    return flat


def text(key: str, language: Language, **values: object) -> str:
    """Return the sentence with its {placeholders} filled."""
    sentence = _sentences(language).get(key) or _sentences("en")[key]
    if not isinstance(sentence, str):
        raise TypeError(f"{key} is a list; use phrases()")
    return sentence.format(**values) if values else sentence


def phrases(key: str, language: Language) -> tuple[str, ...]:
    """Return the list of phrases under the key (words that people say, or wordings to rotate)."""
    found = _sentences(language).get(key, [])
    if isinstance(found, str):
        raise TypeError(f"{key} is a sentence; use text()")
    return tuple(found)
