"""The layer before all others: holds back what a guard objects to, and refuses it politely."""

from __future__ import annotations

from dataclasses import dataclass, field

import structlog

from schemas.routing import Decision
from schemas.routing import Layer as LayerName
from workers.classification.layer import Message
from workers.guarding.guard import Guard, Said, first_objection
from workers.messages.catalog import text
from workers.runtime.telemetry import GUARD_OBJECTIONS

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class GuardLayer:
    """Claims a message that must go no further: no search, no model, no API. What was open stays open."""

    guards: tuple[Guard, ...] = ()
    name: LayerName = field(default=LayerName.OOD, init=False)

    async def claim(self, message: Message) -> Decision | None:
        """Refuse what the first objecting guard holds back; its words are not repeated, here or in the log."""
        blocked = first_objection(self.guards, Said(text=message.text, language=message.language))
        if blocked is None:
            return None
        GUARD_OBJECTIONS.labels(guard=blocked.guard, side="input").inc()
        log.warning("question_blocked", guard=blocked.guard, reason=blocked.reason)
        sentence = "too_long" if blocked.guard == "length" else "secret" if blocked.guard == "secrets" else "refusal"
        return Decision(
            layer=self.name,
            language=message.language,
            rule=f"guard:{blocked.guard}",
            reply=text(f"guard.{sentence}", message.language),
            keeps_collection=message.collecting is not None,
            blocked_by=blocked.guard,
        )
