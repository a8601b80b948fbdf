"""A searcher whose scores the test writes down, and builders for what the chain is given."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from schemas.conversations import Collecting, Conversation, EndpointProgress, Utterance
from schemas.endpoints import Endpoint, EnumOption, Language, ParamSpec
from schemas.routing import Candidate, Choice
from schemas.turns import TurnRequest
from workers.classification.layer import Message
from workers.errors import StoreUnavailable
from workers.runtime.settings import RoutingSettings

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def endpoint(
    endpoint_id: str, titles: dict[Language, str] | None = None, params: tuple[ParamSpec, ...] = ()
) -> Endpoint:
    return Endpoint(
        endpoint_id=endpoint_id,
        name=f"get_{endpoint_id}",
        description=f"Get {endpoint_id}.",
        titles=titles or {},
        url="https://api.example/x",
        params=params,
    )


HOLIDAYS = endpoint(
    "holidays", {"en": "public holidays", "et": "riigipühad", "ru": "праздники"}, (ParamSpec(name="country"),)
)
SCHOOL = endpoint("school", {"en": "school holidays", "et": "koolivaheajad", "ru": "каникулы"})
PRICES = endpoint("prices", {"en": "electricity prices", "et": "elektrihinnad", "ru": "цены на электричество"})
TAX = endpoint(
    "tax",
    {"en": "vehicle tax", "et": "sõidukimaks", "ru": "налог на автомобиль"},
    (ParamSpec(name="kind", enum=(EnumOption(value="car", labels={"et": "sõiduauto"}), EnumOption(value="van"))),),
)
ADDRESS = endpoint("address", {"en": "address search", "et": "aadressiotsing", "ru": "поиск адреса"})
WEATHER = endpoint("weather", {"en": "weather forecast", "et": "ilmaprognoos", "ru": "прогноз погоды"})
ALL = {e.endpoint_id: e for e in (HOLIDAYS, SCHOOL, PRICES, TAX, ADDRESS, WEATHER)}

# What the words of a message say about endpoints; a message with words of two is diluted, as an embedding is.
WORDS = {
    "holidays": ("public holiday", "riigipüh", "праздник"),
    "school": ("school", "koolivahea", "каникул"),
    "prices": ("electric", "elektrihin", "elekter", "elektri ", "электр"),
    "tax": ("tax", "maks", "налог"),
    "address": ("address", "aadress", "адрес"),
    "weather": ("weather", "ilm", "погод"),
}


def candidate(which: Endpoint, cosine: float, *, high: bool = False) -> Candidate:
    return Candidate(endpoint=which, cosine=cosine, fused=cosine, confidence="high" if high else "medium")


class WordSearch:
    """Finds endpoints by the words above: one named scores 0.8 and is high; several share 0.55 and are medium.

    `rows` overrules for whole messages, `nearly` what is nearest to them, matches or not. It counts searches and how
    many ran at once.
    """

    def __init__(
        self,
        rows: Mapping[str, tuple[Candidate, ...]] | None = None,
        *,
        nearly: Mapping[str, tuple[Candidate, ...]] | None = None,
        is_down: bool = False,
    ) -> None:
        self.rows = dict(rows or {})
        self.nearly = dict(nearly or {})
        self.is_down = is_down
        self.searched: list[str] = []
        self.most_at_once = 0
        self._running = 0

    async def search(self, text: str, *, tenant: str, limit: int) -> tuple[Candidate, ...]:
        assert tenant == "default"
        self.searched.append(text)
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        await asyncio.sleep(0)
        self._running -= 1
        if self.is_down:
            raise StoreUnavailable("down")
        return self.rows.get(text, self._by_words(text))[:limit]

    async def nearest(self, text: str, *, tenant: str, limit: int) -> tuple[Candidate, ...]:
        assert tenant == "default"
        if self.is_down:
            raise StoreUnavailable("down")
        named = {c.endpoint.endpoint_id: c for c in self.nearly.get(text, self._by_words(text))}
        others = [candidate(e, 0.1) for e in ALL.values() if e.endpoint_id not in named]
        return (*named.values(), *others)[:limit]

    def _by_words(self, text: str) -> tuple[Candidate, ...]:
        found = [key for key, words in WORDS.items() if any(word in text.lower() for word in words)]
        return tuple(candidate(ALL[key], 0.8 if len(found) == 1 else 0.55, high=len(found) == 1) for key in found)


def request(message: str, *, history: tuple[Utterance, ...] = (), turn_id: str = "t1") -> TurnRequest:
    return TurnRequest(
        turn_id=turn_id,
        tenant="default",
        chat_id="c",
        message=message,
        history=history,
        accepted_at=NOON,
        deadline_at=NOON + timedelta(minutes=1),
    )


def said(*turns: tuple[str, str]) -> tuple[Utterance, ...]:
    """Build a transcript of (user, bot) pairs."""
    return tuple(
        Utterance(role=role, text=text) for user, bot in turns for role, text in (("user", user), ("bot", bot))
    )


def collecting(
    *endpoints: Endpoint, question: str = "Which dates?", asked: tuple[str, ...] = (), awaits_continuation: bool = False
) -> Collecting:
    return Collecting(
        endpoints=tuple(EndpointProgress(endpoint=e) for e in endpoints),
        original_query="x",
        last_question=question,
        asked=asked,
        awaiting_continuation=awaits_continuation,
    )


def conversation(
    *,
    language: Language = "en",
    open_: Collecting | None = None,
    transcript: tuple[Utterance, ...] = (),
    choices: tuple[Choice, ...] = (),
) -> Conversation:
    return Conversation(language=language, collecting=open_, transcript=transcript, choices=choices)


def message(
    text: str, *, language: Language = "en", chat: Conversation | None = None, history: tuple[Utterance, ...] = ()
) -> Message:
    return Message(
        request=request(text, history=history), conversation=chat, language=language, wording=language, now=NOON
    )


def settings(**changes: object) -> RoutingSettings:
    return RoutingSettings().model_copy(update=changes)
