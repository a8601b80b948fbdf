"""Finds values in JSON by dotted path, and the text meant for one language where an API offers several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.base import JsonValue
from schemas.endpoints import LANGUAGES, Language

_LANGUAGE_KEYS = ("language", "lang", "languageCode", "locale", "languageIsoCode")
_TEXT_KEYS = ("text", "value", "name", "label")
_CODE_LENGTH = 2


@dataclass(frozen=True)
class Missing:
    """No value stands at the path (JSON's null counts as none)."""


MISSING = Missing()


def find(value: JsonValue, path: str) -> JsonValue | Missing:
    """Follow a dotted path ("tax.total", "rows.0.name"); "" and "$" are the value itself."""
    for step in path.removeprefix("$").strip(".").split(".") if path.strip("$.") else ():
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return MISSING if value is None else value


def first_found(sources: Sequence[JsonValue], path: str) -> JsonValue | Missing:
    """Return what the first source that has it holds at the path."""
    for source in sources:
        found = find(source, path)
        if not isinstance(found, Missing):
            return found
    return MISSING


def in_language(value: JsonValue, language: Language) -> str | None:
    """Return the text for a language from `{"en": …, "et": …}` or `[{"language": "EN", "text": …}, …]`.

    None when the value has neither form. A language that is not offered falls back to English, then to the first.
    """
    offered = _offered(value)
    if not offered:
        return None
    return offered.get(language) or offered.get("en") or next(iter(offered.values()))


def _offered(value: JsonValue) -> Mapping[str, str]:
    if isinstance(value, dict):
        texts = {key.lower()[:_CODE_LENGTH]: said for key, said in value.items() if isinstance(said, str)}
        known = all(len(key) == _CODE_LENGTH or key[2:3] in "-_" for key in value)
        return texts if value and len(texts) == len(value) and known and texts.keys() & set(LANGUAGES) else {}
    if isinstance(value, list) and value:
        pairs = [_translation(entry) for entry in value]
        return dict(pair for pair in pairs if pair) if all(pairs) else {}
    return {}


def _translation(entry: JsonValue) -> tuple[str, str] | None:
    if not isinstance(entry, dict):
        return None
    code = next((entry[key] for key in _LANGUAGE_KEYS if isinstance(entry.get(key), str)), None)
    said = next((entry[key] for key in _TEXT_KEYS if isinstance(entry.get(key), str)), None)
    if not isinstance(code, str) or not isinstance(said, str) or len(entry) > len(("code", "text", "extra")):
        return None
    return code.lower()[:_CODE_LENGTH], said
