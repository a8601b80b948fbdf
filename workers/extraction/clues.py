"""The words that speak for a parameter: those of its name, and, more softly, those of its description."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from schemas.endpoints import LANGUAGES, Endpoint
from workers.extraction.params import Param
from workers.extraction.text import fold, readable, same_stem, words_of
from workers.messages.catalog import phrases

_SHORTEST = 3
_SHORTEST_ROOT = 6
_SHARE_OF_ROOT = 0.6
_OF_NAME, _OF_DESCRIPTION = 3.0, 1.0
# One spelling for each unit; what people write, and what descriptions say.
_UNITS: dict[str, str] = {
    said: unit
    for unit, all_said in {
        "metre": "m meter meters metre metres", "kilometre": "km kms kilometer kilometers kilometre kilometres",
        "centimetre": "cm centimeter centimeters centimetre centimetres", "millimetre": "mm millimeter millimeters",
        "kilogram": "kg kgs kilogram kilograms kilo kilos", "gram": "gram grams", "pound": "lb lbs pound pounds",
        "foot": "ft foot feet", "inch": "inch inches", "mile": "mi mile miles", "yard": "yard yards",
        "second": "s sec secs second seconds", "minute": "min mins minute minutes", "hour": "h hr hrs hour hours",
        "day": "day days daily", "week": "week weeks weekly", "month": "month months monthly",
        "year": "year years yr yrs yearly annual annually", "litre": "l liter liters litre litres",
        "volt": "v volt volts", "watt": "w watt watts", "hertz": "hz hertz", "mole": "mol mols mole moles",
        "degree": "degree degrees celsius fahrenheit", "percent": "% percent percentage percents",
        "money": "$ € £ usd eur dollar dollars euro euros price cost budget fee fees amount investment principal "
        "salary income payment dividend dividends revenue payout cash",
        "person": "person persons people guest guests adult adults passenger passengers seat seats traveler travelers "
        "traveller travellers visitor visitors participant participants inimene inimest inimesele koht kohta kohti "
        "reisija reisijat kulaline kulalist человек людей гость гостей место места мест пассажир пассажиров "
        "взрослых",
        "ticket": "ticket tickets",
    }.items()
    for said in all_said.split()
}  # fmt: skip


@cache
def small_words() -> frozenset[str]:
    """Return the folded words that tell nothing, of all three languages."""
    return frozenset(fold(word) for language in LANGUAGES for word in phrases("hearing.small_words", language))


def is_unit(word: str) -> bool:
    """Whether it is a unit of measure (or of money)."""
    return word in _UNITS


def unit_of(word: str) -> str:
    """Return the common spelling of a unit word, else the word itself."""
    return _UNITS.get(word, word)


@lru_cache(maxsize=4096)
def telling_words(text: str) -> frozenset[str]:
    """Return the folded words of a text that tell something, units in their common spelling."""
    folded = (word.folded for word in words_of(fold(readable(text))))
    units = {_UNITS[word] for word in re.findall(r"[%$€£]", text) if word in _UNITS}
    said = {unit_of(word) for word in folded if word not in small_words()}
    return frozenset(units | {word for word in said if len(word) >= _SHORTEST or word in _UNITS.values()})


def clues_of(param: Param) -> dict[str, float]:
    """Return the words that speak for a parameter, with their weight."""
    described = dict.fromkeys(telling_words(_without_default(param.spec.description)), _OF_DESCRIPTION)
    return described | dict.fromkeys(telling_words(param.spec.name), _OF_NAME)


def _without_default(description: str) -> str:
    """Leave out what a description says about its default and its examples: those words speak for no message."""
    return re.split(r"(?i)\bdefault|\be\.?g\.|\bfor example|\bsuch as|\bif (?:not|no|omitted)", description)[0]


def distinct_clues(params: Sequence[Param]) -> dict[str, dict[str, float]]:
    """Return each parameter's clues; a word that several share speaks the less for each."""
    all_clues = {param.name: clues_of(param) for param in params}
    shared = Counter(word for clues in all_clues.values() for word in clues)
    return {name: {word: weight / shared[word] for word, weight in clues.items()} for name, clues in all_clues.items()}


@lru_cache(maxsize=65_536)
def is_clue(word: str, clue: str) -> bool:
    """Whether a folded word of a message is a form of the clue ("accelerating" of acceleration)."""
    return unit_of(word) == clue or same_stem(word, clue) or _is_derived(word, clue)


def _is_derived(word: str, clue: str) -> bool:
    if word[:_SHORTEST_ROOT] != clue[:_SHORTEST_ROOT] or min(len(word), len(clue)) < _SHORTEST_ROOT:
        return False
    shared = next((i for i, (a, b) in enumerate(zip(word, clue, strict=False)) if a != b), min(len(word), len(clue)))
    return shared >= max(_SHORTEST_ROOT, _SHARE_OF_ROOT * max(len(word), len(clue)))


def weight_of(word: str, clues: Mapping[str, float]) -> float:
    """Return how strongly a folded word of a message speaks for a parameter with these clues."""
    known = clues.get(unit_of(word))
    if known is not None:
        return known
    return max((weight for clue, weight in clues.items() if is_clue(word, clue)), default=0.0)


@lru_cache(maxsize=512)
def _own_words(texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for text in texts for word in telling_words(text))


def own_words(endpoint: Endpoint) -> frozenset[str]:
    """Return the words by which an endpoint describes itself: said in a request, they are no values."""
    texts = [endpoint.name, endpoint.description, *endpoint.titles.values(), *endpoint.descriptions.values()]
    texts += [param.name for param in endpoint.params]
    return _own_words(tuple(texts))
