"""The OOD layer: the end of the chain. It always answers, politely, with two or three things that we can do.

Where the nearest endpoint is almost a match, it may be the one that was meant in other words: the refusal then asks,
and the nearest three are buttons. It stays a refusal: nothing is called, and no answer is waited for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import structlog

from schemas.routing import Candidate, Decision
from schemas.routing import Layer as LayerName
from workers.classification import choices
from workers.classification.layer import EndpointSearcher, Message
from workers.classification.wording import listed, say, title
from workers.errors import WorkerError

log = structlog.get_logger(__name__)

_TITLES_NAMED = 2
_OFFERED = 3


@dataclass(frozen=True, kw_only=True)
class OodLayer:
    """Refuses in the user's language. Never raises a WorkerError: without search the refusal names nothing."""

    search: EndpointSearcher
    near_cosine: float
    match_cosine: float
    name: LayerName = field(default=LayerName.OOD, init=False)

    async def claim(self, message: Message) -> Decision:
        near = await self._nearest(message)
        best = max((candidate.cosine for candidate in near), default=0.0)
        # A match that comes here was given up, or found not to fit: it is not offered once more.
        if self.near_cosine <= best < self.match_cosine:
            return self._offered(message, near)
        near = near[:_TITLES_NAMED]
        titles = list(dict.fromkeys(title(candidate.endpoint, message.language) for candidate in near))
        named = listed(titles, message.language)
        return Decision(
            layer=self.name,
            language=message.language,
            rule="out_of_domain",
            reply=say("ood.refusal", message, titles=named) if named else say("ood.refusal_bare", message),
            scores={c.endpoint.endpoint_id: round(c.cosine, 4) for c in near},
        )

    def _offered(self, message: Message, near: tuple[Candidate, ...]) -> Decision:
        offered = choices.offer(near, message.language)
        titles = listed([title(one.endpoint, message.language) for one in near], message.language, joined_by="or")
        return Decision(
            layer=self.name,
            language=message.language,
            rule="nearest_offered",
            reply=say("ood.nearest", message, titles=titles),
            choices=offered,
            scores={c.endpoint.endpoint_id: round(c.cosine, 4) for c in near},
        )

    async def _nearest(self, message: Message) -> tuple[Candidate, ...]:
        try:
            return await self.search.nearest(message.text, tenant=message.request.tenant, limit=_OFFERED)
        except WorkerError as error:
            log.warning("refused_without_titles", error=type(error).__name__)
            return ()
