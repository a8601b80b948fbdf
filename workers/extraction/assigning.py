"""Decides which endpoint and which parameter each part of a message is for."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import Endpoint
from workers.extraction.assign_clocks import assign_clocks
from workers.extraction.assign_codes import assign_codes, assign_examples, assign_flags, assign_structures
from workers.extraction.assign_days import assign_days, assign_year
from workers.extraction.assign_lists import assign_lists
from workers.extraction.assign_measures import assign_measures
from workers.extraction.assign_names import assign_names
from workers.extraction.assign_near import assign_near, changed_counts
from workers.extraction.assign_phrases import Wanted, assign_phrases
from workers.extraction.assign_text import assign_text
from workers.extraction.clues import small_words
from workers.extraction.kinds import Kind
from workers.extraction.params import Param, param_of
from workers.extraction.reading import Reading, Span, Standing
from workers.extraction.said import Found, Said
from workers.extraction.text import fold, overlaps, readable, same_stem, words_of
from workers.extraction.values_names import NameKind, names_in
from workers.extraction.wording import holds

_CLAUSE = re.compile(r"[,;()\n]|[:/](?=\s)|[.!?](?=\s|$)|(?<!\w)(?:and|also|ja|ning|и|plus|ka|также)(?!\w)")
_SENTENCE = re.compile(r"[.!?](?=\s|$)|\n|;")
# Shorter than a stem, a word tells only as it stands ("tax", "ilm").
_SHORTEST_TELLING, _SHORTEST_STEM = 3, 4
# Values whose form is nobody else's: where only one endpoint takes such a one, it speaks of that endpoint.
_OWN_FORMS = (Kind.PLATE, Kind.EMAIL, Kind.IBAN, Kind.PERSONAL_CODE, Kind.REGISTRY_CODE)
_OWN_NAMES: dict[Kind, NameKind] = {Kind.CITY: "cities", Kind.COUNTRY: "countries", Kind.CURRENCY: "currencies"}
_PLACES: tuple[NameKind, ...] = ("countries", "cities")
_DAY_KINDS = (Kind.DATE, Kind.MOMENT, Kind.YEAR)


# Words by their first letters, so that forms of one word are found without comparing all.
Vocabulary = dict[str, frozenset[str]]
_Texts = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


def _vocabulary(words: Iterable[str]) -> Vocabulary:
    found: dict[str, set[str]] = defaultdict(set)
    for word in words:
        is_short = len(word) < _SHORTEST_STEM
        if len(word) >= _SHORTEST_TELLING and not (is_short and word in small_words()):
            found[word[:_SHORTEST_STEM]].add(word)
    return {opening: frozenset(alike) for opening, alike in found.items()}


@dataclass(frozen=True)
class Slots:
    """One endpoint's parameters, and the words that tell it from the others."""

    progress: EndpointProgress

    @property
    def endpoint(self) -> Endpoint:
        return self.progress.endpoint

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return tuple(param_of(spec) for spec in self.endpoint.params)

    @property
    def words(self) -> Vocabulary:
        """Folded words of its texts and labels, three letters or longer."""
        return _words_of(self.texts)

    @cached_property
    def texts(self) -> _Texts:
        """Its names, titles and descriptions, and the labels of its required parameters."""
        endpoint = self.endpoint
        aliases = (alias for said in endpoint.aliases.values() for alias in said)
        texts = (
            readable(endpoint.name),
            endpoint.description,
            *endpoint.descriptions.values(),
            *endpoint.titles.values(),
        )
        labels = (label for param in self.params if param.spec.required for label in param.labels)
        return (*texts, *aliases), tuple(labels)


@lru_cache(maxsize=1024)
def _words_of(texts: _Texts) -> Vocabulary:
    """Return the folded words of an endpoint's texts and labels, three letters or longer."""
    told, labels = texts
    said = (word.folded for text in told for word in words_of(fold(text)))
    return _vocabulary((*said, *(word for label in labels for word in label)))


@dataclass(frozen=True)
class Heard:
    """What one message said, endpoint by endpoint, in the collection's order."""

    found: tuple[Found, ...]
    spans: tuple[Span, ...] = field(default=())

    @property
    def holds_value(self) -> bool:
        return any(self.found)

    def beside(self, proposed: Sequence[Found]) -> Heard:
        """Return this with what was proposed for parameters that it says nothing about."""
        return Heard(found=tuple({**more, **own} for own, more in zip(self.found, proposed, strict=True)))


def hear(reading: Reading, collecting: Collecting) -> Heard:
    """Take from a message what it says for each endpoint. A shared parameter is heard once, for all that lack it."""
    slots = [Slots(progress) for progress in collecting.endpoints]
    scopes = _scopes(reading, slots)
    asked = collecting.asked
    # Two towns for two endpoints: each hears its own part alone, or it would take the first for its one value.
    readings = [reading.without(scope) for scope in scopes]
    found = [_formed(own, one, asked) for own, one in zip(readings, slots, strict=True)]
    taken = [(said.start, said.end) for said_for in found for said in said_for.values()]
    labels = [span for one in slots for param in one.params for span in reading.label_spans(param)]
    for own, one, said_for in zip(readings, slots, found, strict=True):
        known = {*one.progress.values, *said_for}
        open_asked = [name for name in asked if name not in said_for]
        standing = Standing(asked=open_asked, known=known, taken=taken)
        lists = assign_lists(own, one.params, asked=open_asked, taken=taken)
        said_for |= {name: said for name, said in lists.items() if name not in said_for}
        taken.extend((said.start, said.end) for said in lists.values())
        said_for |= assign_text(own, one.params, standing, labels=labels)  # noqa: PLW2901
        said_for |= _guessed(own, one, said_for, taken, is_first=not collecting.turns)  # noqa: PLW2901
    return Heard(found=tuple(_shared(found, slots, scopes)))


def _guessed(reading: Reading, slots: Slots, found: Found, taken: list[Span], *, is_first: bool) -> Found:
    """Fill what is still open from the words around values that nobody claimed."""
    claimed = [*taken, *((said.start, said.end) for said in found.values())]
    standing = Standing(asked=(), known={*slots.progress.values, *found}, taken=claimed)
    near = assign_near(reading, slots.params, standing)
    near |= changed_counts(reading, [p for p in slots.params if p.name in slots.progress.values], standing)
    standing.taken.extend((said.start, said.end) for said in near.values())
    wanted = Wanted(endpoint=slots.endpoint, params=slots.params, standing=standing, is_first=is_first)
    return near | assign_phrases(reading, wanted)


def meant_endpoints(reading: Reading, collecting: Collecting) -> set[int]:
    """Return the places of the endpoints that the message's own words point at."""
    telling = _telling([Slots(progress) for progress in collecting.endpoints])
    return {i for i, own in enumerate(telling) if any(_knows(own, word) for word in reading.words)}


def _formed(reading: Reading, slots: Slots, asked: Sequence[str]) -> Found:
    """Take everything that has a form of its own: days, names, codes, numbers, flags."""
    known = set(slots.progress.values)
    params = slots.params
    days = reading.days
    found = assign_structures(reading, params, asked=asked)
    found |= assign_days(reading, params, days, known=known, asked=asked, hours=slots.endpoint.method == "GET")
    for param in (p for p in params if p.kind is Kind.YEAR):
        found |= assign_year(reading, param, days)
    found |= assign_clocks(reading, params, asked=asked)
    found |= assign_names(reading, params, known=known, asked=asked)
    taken = [(said.start, said.end) for said in found.values()]
    found |= assign_codes(reading, params, Standing(asked=asked, known=known, taken=taken))
    found |= assign_flags(reading, params, asked=asked, is_first=not known)
    found |= assign_measures(reading, params, taken=[(said.start, said.end) for said in found.values()])
    return found | {name: said for name, said in assign_examples(reading, params).items() if name not in found}


def _is_elsewhere(span: Span, scope: list[Span]) -> bool:
    return any(start <= span[0] < end for start, end in scope)


def _scopes(reading: Reading, slots: list[Slots]) -> list[list[Span]]:
    """For each endpoint, the stretches of the message that clearly speak of another one."""
    if len(slots) == 1 or holds(reading.words, "both"):
        return [[] for _ in slots]
    telling = _telling(slots)
    # A place in a description ("an Estonian vehicle") does not make every mention of it speak of that endpoint.
    places = [(n.start, n.end) for kind in _PLACES for n in names_in(reading.text, kind)]
    common = [word for word in reading.text.words if not overlaps(word.start, word.end, places)]
    elsewhere: list[list[Span]] = [[] for _ in slots]
    forms, names = _owned_forms(reading, slots), _owned_names(reading, slots)
    meant: set[int] = set()
    for start, end, is_new_sentence in _clauses(reading.text.folded):
        words = [w.folded for w in common if start <= w.start and w.end <= end]
        hits = {i for i, own in enumerate(telling) if any(_knows(own, word) for word in words)}
        hits = hits or {i for i, at in forms if start <= at < end}
        is_open = is_new_sentence or any(start <= at < end and i not in meant for i, at in names)
        meant = hits or (set() if is_open else meant)
        for i in range(len(slots)):
            if meant and i not in meant and _could_be_for(slots, meant, i):
                elsewhere[i].append((start, end))
    return elsewhere


def _owned_forms(reading: Reading, slots: list[Slots]) -> list[tuple[int, int]]:
    """Find values that only one of the endpoints can take, by their form: its place, and where they begin."""
    owners = ((kind, _only_owner(slots, kind)) for kind in _OWN_FORMS)
    return [(owner, code.start) for kind, owner in owners if owner is not None for code in reading.codes(kind)]


def _owned_names(reading: Reading, slots: list[Slots]) -> list[tuple[int, int]]:
    """Find names that only one of the endpoints can take: too weak a sign to speak of it, but no part of another."""
    owners = ((kind, _only_owner(slots, kind)) for kind in _OWN_NAMES)
    return [
        (owner, name.start) for kind, owner in owners if owner is not None for name in reading.names(_OWN_NAMES[kind])
    ]


def _only_owner(slots: list[Slots], kind: Kind) -> int | None:
    """Return the only endpoint that takes a value of that kind."""
    owners = [i for i, one in enumerate(slots) if any(param.kind is kind for param in one.params)]
    return owners[0] if len(owners) == 1 else None


def _telling(slots: list[Slots]) -> tuple[Vocabulary, ...]:
    """Return the words that tell each endpoint from the others."""
    return _telling_words(tuple(one.texts for one in slots))


@lru_cache(maxsize=512)
def _telling_words(texts: tuple[_Texts, ...]) -> tuple[Vocabulary, ...]:
    vocabularies = [_words_of(one) for one in texts]
    return tuple(
        _vocabulary(
            word
            for alike in own.values()
            for word in alike
            if not any(_knows(other, word) for j, other in enumerate(vocabularies) if j != i)
        )
        for i, own in enumerate(vocabularies)
    )


def _knows(vocabulary: Vocabulary, word: str) -> bool:
    return any(same_stem(word, own) for own in vocabulary.get(word[:_SHORTEST_STEM], ()))


def _could_be_for(slots: list[Slots], meant: set[int], other: int) -> bool:
    """Whether the meant endpoints compete with the other one for values; if not, nobody's words are taken away."""
    kinds = {_broad(param.kind) for i in meant for param in slots[i].params}
    return bool(kinds & {_broad(param.kind) for param in slots[other].params})


def _broad(kind: Kind) -> str:
    return "days" if kind in _DAY_KINDS else kind.value


def _clauses(folded: str) -> list[tuple[int, int, bool]]:
    """Cut a message into clauses: start, end, and whether a new sentence begins there."""
    found: list[tuple[int, int, bool]] = []
    start, is_new = 0, True
    for match in _CLAUSE.finditer(folded):
        found.append((start, match.start(), is_new))
        start, is_new = match.end(), _SENTENCE.match(folded, match.start()) is not None
    found.append((start, len(folded), is_new))
    return found


def _shared(found: list[Found], slots: list[Slots], scopes: list[list[Span]]) -> list[Found]:
    """Give what was heard for one endpoint to the others that have the same parameter and still lack it.

    A day that can be left out is not taken from words that speak of another endpoint: "100 dollars in euros and the
    weather on Monday" asks for no rate of Monday.
    """
    shared: list[Found] = [dict(said) for said in found]
    for i, said_for in enumerate(found):
        for name, said in said_for.items():
            spec = slots[i].endpoint.param(name)
            for j, other in enumerate(slots):
                theirs = other.endpoint.param(name)
                if j == i or spec is None or theirs is None or spec.type != theirs.type:
                    continue
                can_do_without = not theirs.required and param_of(theirs).kind in _DAY_KINDS
                is_theirs = not (can_do_without and _is_elsewhere((said.start, said.end), scopes[j]))
                if is_theirs and name not in found[j] and name not in other.progress.values:
                    shared[j][name] = said if isinstance(said, Said) else shared[j].get(name, said)
    return shared
