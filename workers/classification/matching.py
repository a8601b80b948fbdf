"""Judges what search found for one text: a winner, several that are too close to call, or nothing. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.endpoints import Endpoint
from schemas.routing import Candidate
from workers.classification.vocabulary import vocabulary
from workers.classification.words import folded_words, split_words

MOST_CHOICES = 3
_STEM = 5
_SHORTEST_WORD = 3
_READS = "reads_rather_than_changes"
# What changes something is called for no word of its own only where it leads by so many gaps.
_LEADS = 3


@dataclass(frozen=True, kw_only=True)
class Match:
    """`winner` is the endpoint meant; without one, `close` holds those that could be meant (two or three)."""

    winner: Candidate | None = None
    close: tuple[Candidate, ...] = ()
    rule: str = "no_match"

    @property
    def best(self) -> Candidate | None:
        """The winner, else the first of the close ones."""
        return self.winner or next(iter(self.close), None)


def judge(text: str, candidates: Sequence[Candidate], *, gap: float) -> Match:
    """Find the winner: the one of high confidence, or one that leads by `gap`, or the only one its words name.

    `gap` is a difference of calibrated cosines. Confidence counts only for the candidate that carries it.
    """
    if not candidates:
        return Match()
    high = next((c for c in candidates if c.confidence == "high"), None)
    if high and not _changes_something_for_little(high, candidates, gap):
        return _winner(text, high, candidates, gap=gap, rule="high_confidence")
    ranked = sorted(candidates, key=lambda c: (-c.cosine, -c.fused, c.endpoint.endpoint_id))
    close = tuple(c for c in ranked if ranked[0].cosine - c.cosine < gap)[:MOST_CHOICES]
    if len(close) == 1:
        return _winner(text, close[0], candidates, gap=gap, rule="clear_winner")
    named = distinguish(text, close)
    if named:
        return Match(winner=named, rule="distinguished_by_words")
    reader = _reader(text, close)
    if reader:
        return Match(winner=reader, rule=_READS)
    return Match(close=close, rule="too_close")


def _winner(text: str, winner: Candidate, candidates: Sequence[Candidate], *, gap: float, rule: str) -> Match:
    """Return the winner; one that changes something gives way to a near one that reads, unless a word asks for it."""
    if winner.endpoint.method == "GET":
        return Match(winner=winner, rule=rule)
    behind = (c for c in candidates if c.endpoint.method == "GET" and winner.cosine - c.cosine < _LEADS * gap)
    reader = max(behind, key=lambda c: c.cosine, default=None)
    if reader is None or _reader(text, (winner, reader)) is None:
        return Match(winner=winner, rule=rule)
    return Match(winner=reader, rule=_READS)


def distinguish(text: str, candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the one candidate whose own words the text uses most, or None when two share the lead.

    Only words that some candidates have and others lack can tell them apart.
    """
    said = _stems(text)
    own = [_stems(_described(c.endpoint)) & said for c in candidates]
    shared = frozenset.intersection(*own)
    counts = [len(stems - shared) for stems in own]
    top = max(counts)
    return candidates[counts.index(top)] if top and counts.count(top) == 1 else None


def _changes_something_for_little(high: Candidate, candidates: Sequence[Candidate], gap: float) -> bool:
    """Whether the surest is a call that changes something, with one that only reads right behind it."""
    if high.endpoint.method == "GET":
        return False
    return any(c.endpoint.method == "GET" and high.cosine - c.cosine < gap for c in candidates)


def _reader(text: str, close: Sequence[Candidate]) -> Candidate | None:
    """Return the only one that reads, among others that change something, if the text has no word of theirs alone."""
    readers = [c for c in close if c.endpoint.method == "GET"]
    if len(readers) != 1 or len(close) == 1 or _asks_for_change(text):
        return None
    changing = frozenset().union(*(_words(_described(c.endpoint)) for c in close if c is not readers[0]))
    return None if _words(text) & (changing - _words(_described(readers[0].endpoint))) else readers[0]


def _asks_for_change(text: str) -> bool:
    """Whether a word says that something is to be done, whatever the endpoint calls it: "book", "osta", "закажи"."""
    words = folded_words(text)
    changes = vocabulary("request.changes")
    return any(changes.match(words, at) > at for at in range(len(words)))


def names(text: str, endpoint: Endpoint) -> bool:
    """Whether the text uses a word of the endpoint's title, name or aliases."""
    aliases = (alias for words in endpoint.aliases.values() for alias in words)
    own = " ".join((endpoint.name, *endpoint.titles.values(), *aliases))
    return bool(_stems(text) & _stems(own)) or bool(_short_words(text) & _short_words(own))


def _described(endpoint: Endpoint) -> str:
    spoken = (
        phrase for by_language in (endpoint.aliases, endpoint.examples) for p in by_language.values() for phrase in p
    )
    return " ".join(
        (
            readable(endpoint.name),
            *endpoint.titles.values(),
            endpoint.description,
            *endpoint.descriptions.values(),
            *spoken,
        )
    )


def telling_words(text: str) -> frozenset[str]:
    """Return the beginnings of a text's words, verbs among them, without small words; inflected forms meet."""
    return _words(readable(text))


def readable(name: str) -> str:
    """Part the words of a name: "BuyBusTicket" is "Buy Bus Ticket"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name)


def _stems(text: str) -> frozenset[str]:
    """Return the beginnings of the words that carry meaning, so that inflected forms meet."""
    small = vocabulary("request.function_words", "request.fillers", "request.verbs", "value.words")
    return frozenset(word[:_STEM] for word in _long_words(text) if word not in small)


def _words(text: str) -> frozenset[str]:
    """The same with the verbs: "extend" is what tells a change from a look."""
    small = vocabulary("request.function_words", "request.fillers", "value.words")
    return frozenset(word[:_STEM] for word in _long_words(text) if word not in small)


def _short_words(text: str) -> frozenset[str]:
    """Return the words of three letters that carry meaning: "tax", "ilm"; shorter ones tell nothing."""
    small = vocabulary("request.function_words", "request.fillers", "request.verbs", "value.words")
    words = (word.folded for word in split_words(text) if len(word.folded) == _SHORTEST_WORD)
    return frozenset(word for word in words if word not in small and word.isalpha())


def _long_words(text: str) -> list[str]:
    return [word.folded for word in split_words(text) if len(word.folded) > _SHORTEST_WORD]
