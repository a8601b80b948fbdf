"""Names fields and topics to people: by the operator's label, the glossary, or the key made readable."""

from __future__ import annotations

import re

from schemas.endpoints import Endpoint, Language
from workers.formatting.locale import CURRENCIES
from workers.formatting.quoting import clean
from workers.messages.catalog import text

_HUMP = re.compile(r"(?<=[a-zа-яõäöü0-9])(?=[A-ZА-ЯÕÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_A_WORD = re.compile(r"[^\w%]+|_+")
_VERBS = {"get", "fetch", "list", "search", "find", "show", "read", "lookup", "calculate", "check", "create", "api"}
_ACRONYM = 4
_NAME_LIMIT = 60


def key_words(key: str) -> tuple[str, ...]:
    """Cut "calculationYear", "reg_nr" or "Kpl-Hinta" into words; acronyms keep their capitals."""
    parts = _NOT_A_WORD.sub(" ", _HUMP.sub(" ", key[:_NAME_LIMIT])).split()
    return tuple(part if part.isupper() and 1 < len(part) <= _ACRONYM else part.lower() for part in parts)


def field_name(path: str, endpoint: Endpoint, language: Language) -> str:
    """Name the field at a dotted path, in lower case as inside a sentence."""
    key = path.rsplit(".", 1)[-1]
    for labels in (endpoint.rendering.labels.get(path), endpoint.rendering.labels.get(key)):
        if labels and labels.get(language):
            return clean(labels[language], limit=_NAME_LIMIT)
    spec = endpoint.param(key)
    if spec and spec.labels.get(language):
        return clean(spec.labels[language], limit=_NAME_LIMIT)
    words = key_words(key)
    if len(words) > 1 and words[-1].upper() in CURRENCIES:  # "priceEur": the amount will say its currency
        words = words[:-1]
    return _from_glossary(words, language) or clean(" ".join(words), limit=_NAME_LIMIT)


def topic(endpoint: Endpoint, language: Language) -> str:
    """Name what an endpoint is about: its title, else its name without the verb ("vehicle tax info")."""
    title = endpoint.titles.get(language) or endpoint.titles.get("en")
    if title:
        return clean(title, limit=_NAME_LIMIT)
    words = key_words(endpoint.name)
    while len(words) > 1 and words[0] in _VERBS:
        words = words[1:]
    return clean(" ".join(words), limit=_NAME_LIMIT)


def capital(words: str) -> str:
    """Begin with a capital letter."""
    return words[:1].upper() + words[1:]


def _from_glossary(words: tuple[str, ...], language: Language) -> str | None:
    try:
        return text(f"field.{'_'.join(words).lower()}", language)
    except KeyError:
        return None
