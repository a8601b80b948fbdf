"""A question beside a result: its words, what they ask for, and what of it the result carries. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from schemas.base import JsonValue
from schemas.calls import ApiCall
from schemas.endpoints import Language
from workers.formatting.names import key_words
from workers.formatting.narrowing_items import Field, Items, fields_of, items_of
from workers.formatting.narrowing_picks import Days, days_in
from workers.formatting.values import Reading
from workers.messages.asking import FUNCTION_LISTS, Wanted, Wish, wanted
from workers.messages.hearing import Word, lexicon, same_stem, spoken_language, words_of

_SHORTEST_TOPIC = 3
_OPENERS = "followup.openers"


@dataclass(frozen=True)
class Asked:
    """A question beside a result."""

    question: str
    call: ApiCall
    body: JsonValue
    language: Language
    today: date

    @cached_property
    def reading(self) -> Reading:
        return Reading(call=self.call, language=self.language)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return words_of(self.question)

    @cached_property
    def spoken(self) -> Language:
        return spoken_language(self.words, self.language, *FUNCTION_LISTS)

    @cached_property
    def items(self) -> Items | None:
        return items_of(self.body, self.reading)

    @cached_property
    def outer(self) -> tuple[Field, ...]:
        """What the result tells outside its list."""
        return tuple(fields_of(self.body, self.reading))

    @cached_property
    def inner(self) -> tuple[Field, ...]:
        """The fields that items have, each once."""
        rows = self.items.rows if self.items else ()
        found = {field.path: field for row in rows for field in fields_of(row, self.reading)}
        return tuple(found.values())

    @cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        keys = [field.path for field in (*self.inner, *self.outer)]
        found = wanted(self.words, self.spoken, fields=keys)
        return tuple(each for each in found if not self.days.places & set(range(each.first, each.end)))

    def wants(self, *wishes: Wish) -> tuple[Wanted, ...]:
        return tuple(each for each in self.wanted if each.wish in wishes)

    @cached_property
    def days(self) -> Days:
        return days_in(self.words, self.spoken)

    def _covered(self, *keys: str) -> frozenset[int]:
        """Places of words that the lists explain."""
        found: set[int] = set()
        for at in range(len(self.words)):
            ends = [lexicon(key, self.spoken).match(self.words, at) for key in keys]
            found.update(range(at, max(ends)))
        return frozenset(found)

    @cached_property
    def _opening(self) -> int:
        """Where "and what about" ends: such words open a message, later they would mean something."""
        return lexicon(_OPENERS, self.spoken).match(self.words, 0) if self.words else 0

    @cached_property
    def names(self) -> tuple[Word, ...]:
        """Words that no list and no field explains: they must name items."""
        plain = [key for key in FUNCTION_LISTS if key != _OPENERS]
        known = {*self.days.places, *self._covered(*plain), *range(self._opening)}
        known.update(at for each in self.wanted for at in range(each.first, each.end))
        labels = {label for param in self.call.endpoint.params for label in param.labels.values()}
        known.update(self._alike({*self._titles, *labels}))
        return tuple(word for at, word in enumerate(self.words) if at not in known)

    @property
    def _titles(self) -> set[str]:
        """What the items are called: by the endpoint's name, its titles and its aliases."""
        endpoint = self.call.endpoint
        aliases = (alias for said in endpoint.aliases.values() for alias in said)
        return {" ".join(key_words(endpoint.name)), *endpoint.titles.values(), *aliases}

    def _alike(self, texts: set[str]) -> set[int]:
        own = [word.folded for said in texts for word in words_of(said) if len(word.folded) >= _SHORTEST_TOPIC]
        return {at for at, word in enumerate(self.words) if any(same_stem(word.folded, other) for other in own)}

    @cached_property
    def compares(self) -> bool:
        """Whether a superlative's word is measured against something: "earlier than June", "раньше июня"."""
        than = lexicon("followup.than", self.spoken)
        behind = (each.end for each in self.wants("superlatives") if each.end < len(self.words))
        return any(at in self.days.places or self.words[at].folded in than for at in behind)

    @cached_property
    def is_of_their_kind(self) -> bool:
        """Whether it asks which of them are what they all are ("which of those public holidays is a bank holiday")."""
        return bool(self._covered("followup.partitive")) and not self.names and bool(self._alike(self._titles))

    def fields(self, among: Sequence[Field], *, every: bool = False) -> list[Field]:
        """The fields that the question asks for: named ones, and for a concept the first that carries it.

        With `every`, all that carry it ("how cold": both temperatures). What only the question word means ("how
        much") gives way to what is named ("the base part").
        """
        by_name = {each.value for each in self.wants("fields")}
        named = [field for field in among if field.path in by_name]
        concepts = [(each, _carrying(each, among, every=every)) for each in self.wants("concepts")]
        told = [(each, fields) for each, fields in concepts if fields]
        plain = [fields for each, fields in told if not self._only_asks(each)]
        chosen = plain if plain or named else [fields for _, fields in told]
        return list({field.path: field for fields in (named, *chosen) for field in fields}.values())

    @cached_property
    def names_concept(self) -> bool:
        """Whether more than a question word tells what is asked ("how many … to pay" is no count)."""
        return any(not self._only_asks(each) for each in self.wants("concepts"))

    def _only_asks(self, concept: Wanted) -> bool:
        return set(range(concept.first, concept.end)) <= self._covered("followup.asks", "asked.counts")


def _carrying(concept: Wanted, among: Sequence[Field], *, every: bool) -> list[Field]:
    for word in concept.value.split():
        found = [field for field in among if word in field.words]
        if found:
            return found if every else found[:1]
    return []
