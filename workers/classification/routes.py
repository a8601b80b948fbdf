"""Finds the endpoints that a message asks for: one, several at once, or a few to choose from."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from schemas.endpoints import Language
from schemas.routing import Candidate, PutOff
from workers.classification.decomposer import Decomposition, decompose
from workers.classification.disambiguator import Disambiguator, NoVerdict
from workers.classification.layer import EndpointSearcher
from workers.classification.matching import MOST_CHOICES, Match, judge, names
from workers.classification.requests import opens_request
from workers.classification.smalltalk import small_talk
from workers.classification.splitter import Splitter
from workers.runtime.settings import RoutingSettings

# A message of more parts than so many times what is done at once is not looked at to its end.
_BATCHES_SEARCHED = 3


@dataclass(frozen=True, kw_only=True)
class Found:
    """A part of the message and the endpoint it asks for."""

    part: str
    candidate: Candidate

    @property
    def endpoint_id(self) -> str:
        return self.candidate.endpoint.endpoint_id


@dataclass(frozen=True, kw_only=True)
class Route:
    """Where a message leads. Without `found`, `close` are the endpoints to choose from. `scores` by endpoint id.

    `later` is what was asked for beyond what is done at once, `near` all that search found for the whole message.
    """

    rule: str
    found: tuple[Found, ...] = ()
    close: tuple[Candidate, ...] = ()
    unmatched: tuple[str, ...] = ()
    later: tuple[PutOff, ...] = ()
    scores: dict[str, float]
    near: tuple[Candidate, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What search found for a text, judged; `scores` by endpoint id."""

    match: Match
    scores: dict[str, float]
    near: tuple[Candidate, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RouteFinder:
    """Searches the whole message and its parts side by side, and judges what was found."""

    search: EndpointSearcher
    settings: RoutingSettings
    disambiguator: Disambiguator | None = None
    splitter: Splitter | None = None

    @property
    def _most_parts(self) -> int:
        return _BATCHES_SEARCHED * self.settings.max_endpoints

    async def find(self, text: str, *, tenant: str, wording: Language) -> Route | None:
        """Return the route of a message, or None when nothing fits. Raises what search raises."""
        split = decompose(text, wording) if self.settings.multi_intent_enabled else Decomposition(parts=(text,))
        parts = split.parts[: self._most_parts] if split.is_split else ()
        whole, *rest = await asyncio.gather(*(self._judged(part, tenant) for part in (text, *parts)))
        route = self._several(split, whole, list(zip(parts, rest, strict=True))) if split.is_split else None
        if route is None:
            settled = await self._settled(text, whole.match)
            by_model = await self._split_by_model(text, whole, settled, tenant, wording)
            route = by_model or _single(text, settled, whole.scores)
        return replace(route, near=whole.near) if route else None

    async def _split_by_model(
        self, text: str, whole: Judged, settled: Match, tenant: str, wording: Language
    ) -> Route | None:
        """Let the model, where there is one, find several requests in what search could not place surely."""
        if self.splitter is None or not self.settings.multi_intent_enabled:
            return None
        if not self.splitter.is_wanted(text, settled, wording):
            return None
        split = await self.splitter.split(text, most=self._most_parts)
        if not split.is_split:
            return None
        judged = await asyncio.gather(*(self._judged(part, tenant) for part in split.parts))
        route = self._several(split, whole, list(zip(split.parts, judged, strict=True)))
        # One endpoint out of several parts is what the whole found already.
        return route if route and len(route.found) > 1 else None

    async def _settled(self, text: str, match: Match) -> Match:
        """Let the model, where there is one, settle what is too close to call; when it cannot, the person does."""
        if not match.close or self.disambiguator is None:
            return match
        verdict = await self.disambiguator.pick(text, match.close)
        if verdict is NoVerdict.UNSURE:
            return match
        return Match() if verdict is NoVerdict.NONE_FITS else Match(winner=verdict, rule="model_picked")

    async def _judged(self, text: str, tenant: str) -> Judged:
        candidates = await self._candidates(text, tenant)
        scores = {c.endpoint.endpoint_id: round(c.cosine, 4) for c in candidates}
        return Judged(match=judge(text, candidates, gap=self.settings.gap), scores=scores, near=candidates)

    async def _candidates(self, text: str, tenant: str) -> tuple[Candidate, ...]:
        """Return the matches; beside a lone weak one also what is no match, but may lie within the gap of it.

        By the seed a lone match is taken for its lead over all others, not for being the only one above a line.
        """
        found = await self.search.search(text, tenant=tenant, limit=self.settings.top_k)
        if len(found) != 1 or found[0].confidence == "high":
            return found
        (lone,) = found
        if lone.cosine - self.settings.gap >= self.settings.min_cosine:
            return found
        near = await self.search.nearest(text, tenant=tenant, limit=MOST_CHOICES)
        return (lone, *(one for one in near if one.endpoint.endpoint_id != lone.endpoint.endpoint_id))

    def _several(self, split: Decomposition, whole: Judged, parts: Sequence[tuple[str, Judged]]) -> Route | None:
        """Read the parts as requests of their own; None when they come to no more than the whole does."""
        matches = [(part, judged.match) for part, judged in parts]
        scores = {
            name: score for judged in (whole, *(one for _, one in parts)) for name, score in judged.scores.items()
        }
        found = _distinct(split, matches)
        if not split.is_explicit and not _is_surer(found, whole.match, adds=split.adds):
            return None
        unmatched = _unmatched(split, matches)
        most = self.settings.max_endpoints
        waiting = [PutOff(part=one.part, endpoint=one.candidate.endpoint) for one in found[most:]]
        later = (*waiting, *(PutOff(part=part) for part in split.parts[len(parts) :]))
        if len(found) > 1:
            return Route(rule="parallel", found=found[:most], unmatched=unmatched, later=later, scores=scores)
        if len(found) == 1 and (unmatched or later):
            return Route(rule="partly_matched", found=found, unmatched=unmatched, later=later, scores=scores)
        if len(found) == 1 and _is_said_twice(found[0], whole.match, matches):
            return Route(rule="said_twice", found=found, scores=scores)
        return None


def _single(text: str, whole: Match, scores: dict[str, float]) -> Route | None:
    if whole.winner:
        return Route(rule=whole.rule, found=(Found(part=text, candidate=whole.winner),), scores=scores)
    return Route(rule=whole.rule, close=whole.close, scores=scores) if whole.close else None


def _is_said_twice(found: Found, whole: Match, matches: Sequence[tuple[str, Match]]) -> bool:
    """Whether the message asks for one thing twice: the whole and each part point at the same endpoint first."""
    best = [match.best for match in (whole, *(match for _, match in matches))]
    return len(matches) > 1 and all(one is not None and one.endpoint.endpoint_id == found.endpoint_id for one in best)


def _distinct(split: Decomposition, matches: Sequence[tuple[str, Match]]) -> tuple[Found, ...]:
    """Return what the parts found, each endpoint once. A part that was only guessed apart needs a clear winner."""
    found: dict[str, Found] = {}
    for part, match in matches:
        candidate = match.best if split.is_explicit else match.winner
        if candidate:
            found.setdefault(candidate.endpoint.endpoint_id, Found(part=part, candidate=candidate))
    return tuple(found.values())


def _is_surer(found: Sequence[Found], whole: Match, *, adds: bool) -> bool:
    """Whether an elided reading beats the whole.

    When the whole is surely one endpoint, each part must be as sure, or name its endpoint; or the speaker said that
    something is added, and the whole's endpoint is among the parts'.
    """
    if len(found) < 2:  # noqa: PLR2004 - several means two
        return False
    if whole.winner is None or whole.rule != "high_confidence":
        return True
    if whole.winner.endpoint.endpoint_id not in {each.endpoint_id for each in found}:
        return False
    return adds or all(_is_plain(each) for each in found)


def _is_plain(found: Found) -> bool:
    """Whether a part leaves no doubt: search is sure of it, or it says a word of its endpoint's name."""
    return found.candidate.confidence == "high" or names(found.part, found.candidate.endpoint)


def _unmatched(split: Decomposition, matches: Sequence[tuple[str, Match]]) -> tuple[str, ...]:
    """Return the parts that clearly ask for something that no endpoint gives."""
    if not split.is_explicit:
        return ()
    return tuple(part for part, match in matches if match.best is None and _asks(part))


def _asks(part: str) -> bool:
    return small_talk(part) is None and any(opens_request(part, language) for language in ("en", "et", "ru"))
