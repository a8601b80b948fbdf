"""Words the chain's own sentences: picks a variant, names endpoints, joins lists. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from schemas.endpoints import Endpoint, Language
from workers.classification.layer import Message
from workers.classification.words import split_words
from workers.messages.catalog import phrases, text

_NAME_VERBS = frozenset({"get", "fetch", "list", "search", "find", "check", "read", "lookup", "calculate", "info"})


def say(key: str, message: Message, **values: object) -> str:
    """Return one of the wordings under the key: stable for a turn, and not the sentence that was said last."""
    wordings = [wording.format(**values) for wording in phrases(key, message.language) or phrases(key, "en")]
    last = next((u.text for u in reversed(message.said) if u.role == "bot"), "")
    start = zlib.crc32(message.request.turn_id.encode()) % len(wordings)
    ordered = wordings[start:] + wordings[:start]
    return next((wording for wording in ordered if wording != last), ordered[0])


def title(endpoint: Endpoint, language: Language) -> str:
    """Name an endpoint to people: its title, else its name without underscores and verbs."""
    titles = endpoint.titles
    given = titles.get(language) or titles.get("en") or next(iter(titles.values()), "")
    if given:
        return given
    words = [word.folded for word in split_words(endpoint.name)]
    kept = [word for word in words if word not in _NAME_VERBS] or words
    return " ".join(kept) or endpoint.name


def listed(items: Sequence[str], language: Language, *, joined_by: str = "and") -> str:
    """Join items as the language lists them: "a, b and c"; `joined_by` is "and" or "or"."""
    if len(items) < 2:  # noqa: PLR2004 - a list needs two items
        return "".join(items)
    word = text(f"listing.{joined_by}", language)
    return f"{', '.join(items[:-1])} {word} {items[-1]}"
