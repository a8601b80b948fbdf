"""Rules that say more of an endpoint than its description does, in the description's own language. Pure.

The context is part of the embed text: it feeds the stored sparse vector, and the dense one of models whose recipe
embeds that text as a whole.
"""

from __future__ import annotations

import re

from schemas.endpoints import LANGUAGES, Endpoint, Language, ParamSpec
from workers.messages.catalog import phrases, text
from workers.retrieval.recipe import readable_name

_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_ESTONIAN_LETTERS = re.compile(r"[õäöüšž]", re.IGNORECASE)
_DESCRIBING = {
    "et": frozenset({"ja", "või", "kohta", "järgi", "antud", "kõik", "ning", "mis", "kui", "otsi", "leia", "tagastab"}),
    "en": frozenset({"the", "a", "an", "of", "for", "and", "or", "by", "to", "with", "in", "get", "find", "returns"}),
}
_ASKED_EXAMPLES = 6
LONGEST_CONTEXT = 2_000


def description_language(description: str) -> Language:
    """Tell the language a description is written in: by its alphabet, then by its small words and letters."""
    letters = _WORD.findall(description)
    if 2 * len(_CYRILLIC.findall(description)) > sum(len(word) for word in letters):
        return "ru"
    words = [word.lower() for word in letters]
    estonian = sum(word in _DESCRIBING["et"] for word in words) + len(_ESTONIAN_LETTERS.findall(description))
    english = sum(word in _DESCRIBING["en"] for word in words)
    return "et" if estonian > english else "en"


def enrich(endpoint: Endpoint) -> Endpoint:
    """Fill `enriched_context` from titles, synonyms, parameters and examples; one that is given is kept."""
    if endpoint.enriched_context:
        return endpoint
    language = description_language(endpoint.description)
    said = [
        _sentence("context", language, "titles", _subjects(endpoint, language)),
        _sentence("needs", language, "params", [_spoken(p, language) for p in endpoint.params if p.required]),
        _sentence("takes", language, "params", [_spoken(p, language) for p in endpoint.params if not p.required]),
        *(_options(param, language) for param in endpoint.params),
        _sentence("asks", language, "examples", _examples(endpoint, language)),
    ]
    context = " ".join(sentence for sentence in said if sentence)
    return endpoint.model_copy(update={"enriched_context": context[:LONGEST_CONTEXT]})


def _sentence(key: str, language: Language, place: str, items: list[str]) -> str:
    return text(f"indexing.{key}", language, **{place: ", ".join(items)}) if items else ""


def _subjects(endpoint: Endpoint, language: Language) -> list[str]:
    """Titles and aliases in the language, then what people say for the words of the name."""
    titles = [endpoint.titles[language]] if language in endpoint.titles else []
    named = set(_WORD.findall(readable_name(endpoint.name)))
    synonyms = []
    for line in phrases("indexing.synonyms", language):
        word, _, spoken = line.partition(": ")
        if word in named or f"{word}s" in named:
            synonyms += spoken.split(", ")
    return list(dict.fromkeys([*titles, *endpoint.aliases.get(language, ()), *synonyms]))


def _spoken(param: ParamSpec, language: Language) -> str:
    return param.labels.get(language) or readable_name(param.name)


def _options(param: ParamSpec, language: Language) -> str:
    values = [option.labels.get(language, option.value) for option in param.enum]
    if not values:
        return ""
    return text("indexing.options", language, param=_spoken(param, language), values=", ".join(values))


def _examples(endpoint: Endpoint, language: Language) -> list[str]:
    """Examples in the description's language; where there are none, those of any other."""
    own = endpoint.examples.get(language)
    said = own or next((endpoint.examples[other] for other in LANGUAGES if endpoint.examples.get(other)), ())
    return list(said[:_ASKED_EXAMPLES])
