"""The SERVICE layer: sends a message to the endpoints that can answer it, or back to the collection that is open."""

from __future__ import annotations

from dataclasses import dataclass, field

import structlog

from schemas.conversations import Collecting
from schemas.routing import Candidate, Choice, Decision, PutOff
from schemas.routing import Layer as LayerName
from workers.classification import choices
from workers.classification.collection import Reply, reply_to, switches
from workers.classification.disambiguator import NoVerdict
from workers.classification.followup import question_followed_up
from workers.classification.intent_detector import Intent, IntentDetector
from workers.classification.layer import Message
from workers.classification.requests import asked_part
from workers.classification.routes import Route, RouteFinder
from workers.classification.siblings import accepted_offer, sibling_meant
from workers.classification.smalltalk import small_talk
from workers.classification.wording import listed, say
from workers.errors import WorkerError

# What another service may lead by where the last answer offered something: it spoke of its own.
_OFFERED_LEAD = 0.2

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class ApiTools:
    """Claims pressed choices, replies to an open collection, and whatever search has an endpoint for."""

    finder: RouteFinder
    detector: IntentDetector | None = None
    name: LayerName = field(default=LayerName.SERVICE, init=False)

    async def claim(self, message: Message) -> Decision | None:
        """Decide, or pass on. Raises what search raises, except while a collection is open: that one goes on."""
        if not self.finder.settings.api_tools_enabled:
            return None
        chosen = await self._chosen(message)
        if chosen:
            return chosen
        if message.collecting:
            return await self._within(message, message.collecting)
        if small_talk(message.text):
            return None
        route = await self._find(message, message.text)
        followed = None if route else await self._followed_up(message)
        return followed or await self._meant(message, route)

    async def _meant(self, message: Message, route: Route | None) -> Decision | None:
        """Let the model, where there is one, say what is meant if search is in doubt; else what search found."""
        by_rules = self._decided(message, route) if route else None
        if self.detector is None or not self.detector.is_wanted(message.text, route, message.wording):
            return by_rules
        limit = self.finder.settings.top_k
        near = await self.finder.search.nearest(message.text, tenant=message.request.tenant, limit=limit)
        if route is None and not self.detector.is_near(near):
            return None
        intent = await self.detector.detect(message.text, near, said=message.said)
        if not isinstance(intent, Intent):
            return None if intent is NoVerdict.NONE_FITS else by_rules
        return Decision(
            layer=self.name,
            language=message.language,
            rule="model_intent",
            endpoints=(intent.candidate.endpoint,),
            hints=dict(intent.words),
            scores={one.endpoint.endpoint_id: round(one.cosine, 4) for one in near},
        )

    async def _find(self, message: Message, text: str) -> Route | None:
        return await self.finder.find(text, tenant=message.request.tenant, wording=message.wording)

    def _decided(self, message: Message, route: Route) -> Decision:
        if route.found:
            return Decision(
                layer=self.name,
                language=message.language,
                rule=route.rule,
                endpoints=tuple(found.candidate.endpoint for found in route.found),
                unmatched=route.unmatched,
                later=route.later,
                scores=route.scores,
            )
        offered = choices.offer(route.close, message.language)
        titles = listed([choice.title for choice in offered], message.language, joined_by="or")
        return Decision(
            layer=self.name,
            language=message.language,
            rule="choice_offered",
            reply=say("choice.ask", message, titles=titles),
            choices=offered,
            scores=route.scores,
        )

    async def _chosen(self, message: Message) -> Decision | None:
        """Take up a choice that this chat was offered; refuse, politely, one that it was not."""
        offered = message.conversation.choices if message.conversation else ()
        choice = choices.taken(message.text, offered)
        if choice is None:
            return self._refused(message) if choices.is_payload(message.text) else None
        return await self._taken(message, choice) or self._refused(message)

    async def _taken(self, message: Message, choice: Choice) -> Decision | None:
        limit = self.finder.settings.top_k
        near = await self.finder.search.nearest(choice.title, tenant=message.request.tenant, limit=limit)
        wanted = choices.endpoint_id(choice)
        candidate = next((c for c in near if c.endpoint.endpoint_id == wanted), None)
        if candidate is None:
            return None
        return Decision(
            layer=self.name,
            language=message.language,
            rule="choice_taken",
            endpoints=(candidate.endpoint,),
            scores={wanted: round(candidate.cosine, 4)},
        )

    def _refused(self, message: Message) -> Decision:
        return Decision(
            layer=self.name,
            language=message.language,
            rule="choice_refused",
            reply=say("choice.unknown", message),
            keeps_collection=True,
        )

    async def _within(self, message: Message, collecting: Collecting) -> Decision | None:
        """Resume the open collection, unless the message is a side remark or clearly asks for something else."""
        taken = await self._offer_taken(message, collecting)
        reply = reply_to(message.text, collecting, wording=message.wording)
        if taken or reply is Reply.REMARK:
            return taken
        if reply is not Reply.PERHAPS_REQUEST:
            return self._resumed(message, collecting, rule=reply)
        asked = asked_part(message.text, message.wording)
        try:
            route = await self._find(message, asked)
        except WorkerError as error:
            log.warning("switch_not_checked", error=type(error).__name__)
            return self._resumed(message, collecting, rule="search_failed")
        sibling = self._sibling(message, asked, route, collecting)
        if sibling:
            return self._gone_on(message, sibling, rule="switch:same_service")
        if route and switches(asked, route, collecting, settings=self.finder.settings, wording=message.wording):
            return self._decided(message, route).model_copy(update={"rule": f"switch:{route.rule}"})
        return self._resumed(message, collecting, rule="resumed", route=route)

    def _sibling(
        self, message: Message, text: str, route: Route | None, collecting: Collecting, *, lead: float | None = None
    ) -> Candidate | None:
        ours = [progress.endpoint for progress in collecting.endpoints]
        near = route.near if route else ()
        return sibling_meant(text, near, ours, gap=lead or self.finder.settings.gap, wording=message.wording)

    async def _offer_taken(self, message: Message, collecting: Collecting) -> Decision | None:
        """Take up "Shall I book it?" after a yes: what the last answer offered is asked for."""
        if collecting.awaiting_continuation:
            return None
        question = accepted_offer(message.text, message.said)
        route = await self._find(message, question) if question else None
        sibling = self._sibling(message, question, route, collecting, lead=_OFFERED_LEAD) if question else None
        return self._gone_on(message, sibling, rule="offer_taken") if sibling else None

    def _gone_on(self, message: Message, to: Candidate, *, rule: str) -> Decision:
        return Decision(
            layer=self.name,
            language=message.language,
            rule=rule,
            endpoints=(to.endpoint,),
            scores={to.endpoint.endpoint_id: round(to.cosine, 4)},
        )

    def _resumed(self, message: Message, collecting: Collecting, *, rule: str, route: Route | None = None) -> Decision:
        """Hand the message to the collection; a part that asks for something beside it is put off, not lost."""
        endpoints = tuple(progress.endpoint for progress in collecting.endpoints)
        ours = {endpoint.endpoint_id for endpoint in endpoints}
        is_mixed = route is not None and any(found.endpoint_id in ours for found in route.found)
        others = [found for found in route.found if found.endpoint_id not in ours] if route and is_mixed else []
        beside = tuple(PutOff(part=found.part, endpoint=found.candidate.endpoint) for found in others)
        return Decision(
            layer=self.name,
            language=message.language,
            rule=rule,
            endpoints=endpoints,
            resumes=True,
            later=beside,
            scores=route.scores if route else {},
        )

    async def _followed_up(self, message: Message) -> Decision | None:
        """Read "and in Latvia?" as the last question asked again, where search found nothing in it."""
        earlier = question_followed_up(message.text, message.said, wording=message.wording)
        route = await self._find(message, earlier) if earlier else None
        if route is None or not route.found:
            return None
        return self._decided(message, route).model_copy(update={"rule": f"follow_up:{route.rule}"})
