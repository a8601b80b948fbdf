"""The OOD layer: the end of the chain. It always answers, politely, with two things that we can do."""

from __future__ import annotations

from dataclasses import dataclass, field

import structlog

from schemas.routing import Candidate, Decision
from schemas.routing import Layer as LayerName
from workers.classification.layer import EndpointSearcher, Message
from workers.classification.wording import listed, say, title
from workers.errors import WorkerError

log = structlog.get_logger(__name__)

_TITLES_NAMED = 2


@dataclass(frozen=True, kw_only=True)
class OodLayer:
    """Refuses in the user's language. Never raises a WorkerError: without search the refusal names nothing."""

    search: EndpointSearcher
    name: LayerName = field(default=LayerName.OOD, init=False)

    async def claim(self, message: Message) -> Decision:
        near = await self._nearest(message)
        titles = list(dict.fromkeys(title(candidate.endpoint, message.language) for candidate in near))
        named = listed(titles, message.language)
        return Decision(
            layer=self.name,
            language=message.language,
            rule="out_of_domain",
            reply=say("ood.refusal", message, titles=named) if named else say("ood.refusal_bare", message),
            scores={c.endpoint.endpoint_id: round(c.cosine, 4) for c in near},
        )

    async def _nearest(self, message: Message) -> tuple[Candidate, ...]:
        try:
            return await self.search.nearest(message.text, tenant=message.request.tenant, limit=_TITLES_NAMED)
        except WorkerError as error:
            log.warning("refused_without_titles", error=type(error).__name__)
            return ()
