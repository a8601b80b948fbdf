"""The CONTEXT layer: small talk, and questions about the conversation, answered with what was really said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from schemas.conversations import Utterance
from schemas.routing import Decision
from schemas.routing import Layer as LayerName
from workers.classification.choices import is_payload
from workers.classification.layer import EndpointSearcher, Message
from workers.classification.smalltalk import Talk, small_talk
from workers.classification.wording import listed, say, title
from workers.errors import WorkerError
from workers.messages.catalog import text

_TITLES_NAMED = 6
_EXCHANGES_SUMMARISED = 5
_LONGEST_QUOTE = 160
_PLAIN = frozenset(
    {
        Talk.GREETING,
        Talk.HOW_ARE_YOU,
        Talk.THANKS,
        Talk.COMPLIMENT,
        Talk.GOODBYE,
        Talk.AGREED,
        Talk.DECLINED,
        Talk.CANCELLED,
        Talk.UNCLEAR,
    }
)
# "Hello! How can I help?" keeps only its greeting where the open collection's own question follows.
_CLOSING_QUESTION = re.compile(r"(?<=[.!?])\s+[^.!?]*\?$")
_WITHOUT_REMINDER = frozenset({Talk.GOODBYE, Talk.REPEAT})


@dataclass(frozen=True, kw_only=True)
class ContextLayer:
    """Answers what needs no endpoint. A collection that is open stays open, and its question is put again."""

    search: EndpointSearcher
    name: LayerName = field(default=LayerName.CONTEXT, init=False)

    async def claim(self, message: Message) -> Decision | None:
        talk = small_talk(message.text)
        if talk is None:
            return None
        reply = await self._reply(talk, message)
        collecting = message.collecting
        if collecting and collecting.last_question and talk not in _WITHOUT_REMINDER:
            back = text("context.back_to_question", message.language, question=collecting.last_question)
            reply = f"{_CLOSING_QUESTION.sub('', reply) or reply} {back}"
        return Decision(
            layer=self.name,
            language=message.language,
            rule=f"small_talk:{talk}",
            reply=reply,
            keeps_collection=collecting is not None,
        )

    async def _reply(self, talk: Talk, message: Message) -> str:
        if talk in _PLAIN:
            return say(f"context.{talk}", message)
        if talk in (Talk.IDENTITY, Talk.ABILITIES):
            titles = await self._titles(message)
            if not titles:
                return say(f"context.{talk}_bare", message)
            return say(f"context.{talk}", message, titles=listed(titles, message.language))
        return _about_conversation(talk, message)

    async def _titles(self, message: Message) -> list[str]:
        """Name what is registered; an index that is down leaves the sentence without names."""
        try:
            near = await self.search.nearest(message.text, tenant=message.request.tenant, limit=_TITLES_NAMED)
        except WorkerError:
            return []
        return list(dict.fromkeys(title(candidate.endpoint, message.language) for candidate in near))


def _about_conversation(talk: Talk, message: Message) -> str:
    asked = [u.text for u in message.said if u.role == "user" and not is_payload(u.text)]
    if talk is Talk.REPEAT:
        last = next((u.text for u in reversed(message.said) if u.role == "bot"), None)
        return say("context.repeat", message, answer=last) if last else say("context.nothing_said", message)
    if not asked:
        return say("context.nothing_asked", message)
    if talk is Talk.FIRST_QUESTION:
        return say("context.first_question", message, question=asked[0])
    if talk is Talk.LAST_QUESTION:
        return say("context.last_question", message, question=asked[-1])
    return say("context.summary", message, lines="\n".join(_lines(message)))


def _lines(message: Message) -> list[str]:
    """Quote the last exchanges, one a line, small talk left out unless nothing else was said."""
    exchanges = list(_exchanges(message.said))
    matter = [exchange for exchange in exchanges if small_talk(exchange[0]) is None] or exchanges
    return [
        text("context.summary_line", message.language, question=_quoted(asked), answer=_quoted(answered))
        if answered
        else text("context.summary_line_unanswered", message.language, question=_quoted(asked))
        for asked, answered in matter[-_EXCHANGES_SUMMARISED:]
    ]


def _exchanges(said: Sequence[Utterance]) -> Iterator[tuple[str, str]]:
    """Pair what the user said with the answer that followed, "" when none did."""
    for at, utterance in enumerate(said):
        if utterance.role == "user" and not is_payload(utterance.text):
            follows = said[at + 1] if at + 1 < len(said) else None
            yield utterance.text, follows.text if follows and follows.role == "bot" else ""


def _quoted(words: str) -> str:
    """Put a text on one line and cut it, at a word, to a length that can be quoted."""
    line = " ".join(words.split())
    if len(line) <= _LONGEST_QUOTE:
        return line
    return line[:_LONGEST_QUOTE].rsplit(" ", 1)[0].rstrip(",.;:") + "…"
