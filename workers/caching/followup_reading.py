"""Reads a message beside the last call: which words are values, which open, point back or ask, and which do neither."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from schemas.endpoints import Language
from workers.caching.contexts import EndpointView, LastCall
from workers.caching.followup_values import Spoken, Value, countries_in, values_in
from workers.messages.asking import FUNCTION_LISTS, Wanted, Wish, unheard, wanted, words_of_key
from workers.messages.hearing import Word, folded_words, lexicon, same_stem, spoken_language, words_of

_LISTS = (
    "openers",
    "same",
    "corrections",
    "negations",
    "polite",
    "small",
    "back",
    "asks",
    "thanks",
    "partitive",
    "where",
    "now",
    "subjects",
    "actions",
    "returning",
)
# "no wait, Tartu" is English, though an Estonian may begin with "no".
_TELLING_LISTS = (*FUNCTION_LISTS, "followup.corrections")
_SHORTEST_TOPIC = 3
_SHORTEST_HEAD = 5
_SHORTEST_MODIFIER = 3
_MISSPELT_OPENER = (2, 4)


@dataclass(frozen=True)
class Reading:
    """A message, split once and looked at from all sides. Places are indexes of words."""

    text: str
    language: Language
    last: LastCall
    view: EndpointView
    answer: str = ""

    @classmethod
    def of(cls, text: str, preferred: Language, last: LastCall, view: EndpointView, answer: str) -> Reading:
        composed = unicodedata.normalize("NFC", text).strip()
        language = spoken_language(words_of(composed), preferred, *_TELLING_LISTS)
        return cls(composed, language, last, view, answer)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return words_of(self.text)

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Every value said, taken back ones ("not Latvia") too."""
        spoken = Spoken(text=self.text, words=self.words, language=self.language, errors=self.misspelt)
        return values_in(spoken, self.view.params)

    def names_countries(self, places: Sequence[int]) -> bool:
        """Whether a country is named there: that is no name of a place, a person or a firm."""
        spoken = Spoken(text=self.text, words=self.words, language=self.language, errors=self.misspelt)
        return any(not {*range(value.first, value.end)}.isdisjoint(places) for value in countries_in(spoken))

    @cached_property
    def misspelt(self) -> frozenset[int]:
        """Places of words that no list knows as they are written; they may be misspelt."""
        return unheard(self.words, self.language)

    @cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        found = wanted(self.words, self.language, fields=self.last.fields)
        return tuple(each for each in found if not set(range(each.first, each.end)) & self.in_values)

    @cached_property
    def in_values(self) -> frozenset[int]:
        return frozenset(at for value in self.values for at in range(value.first, value.end))

    def wants(self, *wishes: Wish) -> tuple[Wanted, ...]:
        return tuple(each for each in self.wanted if each.wish in wishes)

    @cached_property
    def said(self) -> dict[str, frozenset[int]]:
        """The places that each list of phrases covers, outside values."""
        return {name: frozenset(self._covered(name)) - self.in_values for name in _LISTS}

    def _covered(self, name: str) -> Iterator[int]:
        phrases = lexicon(f"followup.{name}", self.language)
        for at in range(len(self.words)):
            yield from range(at, phrases.match(self.words, at, errors=self.misspelt))

    def has(self, *names: str) -> bool:
        return any(self.said[name] for name in names)

    @cached_property
    def opener_end(self) -> int:
        """Where "and", "thanks, what about" and the like end; 0 when the message opens with none.

        A short unknown word one letter away from an opener is one ("anf in Latvia").
        """
        openers = lexicon("followup.openers", self.language)
        at = end = 0
        while at < len(self.words) and at not in self.in_values:
            found = openers.match(self.words, at, errors=self.misspelt)
            if found == at and at == 0 and self._is_misspelt_opener(self.words[0]):
                found = 1
            if found > at:
                at = end = found
            elif at in self.said["polite"] | self.said["thanks"]:
                at += 1
            else:
                break
        return end

    def _is_misspelt_opener(self, word: Word) -> bool:
        least, most = _MISSPELT_OPENER
        if not (0 in self.misspelt and least < len(word.folded) <= most and word.text[0].islower()):
            return False
        return lexicon("followup.openers", self.language).is_misspelt_in(word.folded)

    @cached_property
    def trailing(self) -> frozenset[int]:
        """Places of words behind the last value that elsewhere would open a message: "what about Narva then"."""
        openers = lexicon("followup.openers", self.language)
        at = start = max(self.in_values, default=len(self.words)) + 1
        while at < len(self.words) and (found := openers.match(self.words, at)) > at:
            at = found
        return frozenset(range(start, at)) if at == len(self.words) else frozenset()

    def starts_with(self, name: str) -> bool:
        """Whether a phrase of the list stands first, once politeness and openers are past."""
        at = self.opener_end
        while at < len(self.words) and at in self.said["polite"] | self.said["thanks"]:
            at += 1
        return at < len(self.words) and lexicon(f"followup.{name}", self.language).match(self.words, at) > at

    def opens_with(self, name: str) -> bool:
        """Whether a phrase of the list stands first, or within what opens the message."""
        phrases = lexicon(f"followup.{name}", self.language)
        places = range(min(self.opener_end, len(self.words)))
        return self.starts_with(name) or any(phrases.match(self.words, at) > at for at in places)

    @cached_property
    def picks_at(self) -> int:
        """Where "of those" stands, which picks from what was answered; -1 when nothing does."""
        return min(self.said["partitive"], default=-1)

    @cached_property
    def on_topic(self) -> frozenset[int]:
        """Places of words that name what the endpoint is about, in any language, or that the person asked with."""
        return self._alike(_topic_words(self.view, self.last.query))

    @cached_property
    def in_description(self) -> frozenset[int]:
        return self._alike(_described_words(self.view))

    @cached_property
    def in_answer(self) -> frozenset[int]:
        """Places of words that were in the answer."""
        return self._alike(_long_words((self.answer,)))

    def _alike(self, known: frozenset[str]) -> frozenset[int]:
        """Places of words that are forms of known ones; an Estonian compound is what its last part says."""
        if self.language == "et":
            long = [word for word in known if len(word) >= _SHORTEST_HEAD]
            heads = {at for at, word in enumerate(self.words) if _has_head(word.folded, long)}
            return self._forms_of(known) | heads
        return self._forms_of(known)

    def _forms_of(self, known: frozenset[str]) -> frozenset[int]:
        openings = {word[:_SHORTEST_TOPIC] for word in known}
        return frozenset(
            at
            for at, word in enumerate(self.words)
            if word.folded[:_SHORTEST_TOPIC] in openings and any(same_stem(word.folded, other) for other in known)
        )

    @cached_property
    def unknown(self) -> frozenset[int]:
        """Places of words that nothing explains: they may be about something else."""
        # "until then": an opener says something of its own when it does not open.
        said = (places for name, places in self.said.items() if name != "openers")
        known = self.in_values.union(*said, self.on_topic, self.in_description, self.in_answer)
        asked = {at for each in self.wanted for at in range(each.first, each.end)}
        return frozenset(range(len(self.words))) - known - asked - frozenset(range(self.opener_end)) - self.trailing

    @cached_property
    def strange(self) -> frozenset[int]:
        """What is unknown, but for small words that lead to a value ("from", "until")."""
        small = lexicon("followup.whole_small", self.language)
        leading: set[int] = set()
        for value in self.values:
            at = value.first - 1
            while at >= 0 and (at in self.on_topic or self.words[at].folded in small):
                leading.add(at)
                at -= 1
        drops = lexicon("followup.drops", self.language)
        dropping = range(max((drops.match(self.words, at) for at in range(len(self.words))), default=0))
        return self.unknown - leading - (frozenset(dropping) if self.starts_with("drops") else frozenset())


def _has_head(word: str, heads: Sequence[str]) -> bool:
    """Whether a word is a compound of something with one of the heads: "suvevaheaeg" with "vaheaeg"."""
    return any(word.endswith(head) and len(word) - len(head) >= _SHORTEST_MODIFIER for head in heads)


@lru_cache(maxsize=256)
def _topic_words_of(named: tuple[str, ...]) -> frozenset[str]:
    return _long_words(named)


def _topic_words(view: EndpointView, query: str) -> frozenset[str]:
    aliases = (alias for said in view.aliases.values() for alias in said)
    labels = (label for param in view.params for label in param.labels.values())
    named = (*words_of_key(view.name), *view.titles.values(), *aliases, *labels)
    return _topic_words_of(named) | _long_words((query,))


def _described_words(view: EndpointView) -> frozenset[str]:
    return _topic_words_of((view.description, *view.descriptions.values()))


def _long_words(texts: Iterable[str]) -> frozenset[str]:
    found = (word for text in texts for word in folded_words(text))
    return frozenset(word for word in found if len(word) >= _SHORTEST_TOPIC and not word.isdecimal())


_NAME = re.compile(r"[^\W\d_][\w.&'’-]*(?:,? [^\W_][\w.&'’-]*)*")


def names_said(reading: Reading, places: Sequence[int]) -> str:
    """Return unknown words as one name when they stand together and are written as a name ("Meretuul Energia")."""
    if not places or places[-1] - places[0] + 1 != len(places):
        return ""
    said = [reading.words[at] for at in places]
    written = reading.text[said[0].start : said[-1].end]
    is_name = all(word.text[:1].isupper() or word.text[:1].isdigit() for word in said)
    return written if is_name and _NAME.fullmatch(written) else ""
