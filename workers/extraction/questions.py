"""Words one question for all that is missing, with what was understood before it; never the same twice in a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from schemas.base import JsonValue
from schemas.conversations import Collecting
from schemas.endpoints import Language
from schemas.routing import Choice
from workers.extraction.kinds import Kind
from workers.extraction.params import Param, param_of
from workers.extraction.said import Doubt, Found, Refused, Said
from workers.extraction.showing import asked_for, explained, label, listed, shown, title
from workers.extraction.slots import known_values, missing_of
from workers.messages.catalog import phrases, text

News = Sequence[tuple[Param, JsonValue]]


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Speaks for one turn, in one language."""

    collecting: Collecting
    language: Language
    now: datetime

    @property
    def missing(self) -> tuple[str, ...]:
        return missing_of(self.collecting)

    def ask(self, *said_first: str) -> str:
        """Ask for everything that is missing."""
        missing = self._missing_with_examples()
        key = "asking.need_one" if len(self.missing) == 1 else "asking.need_many"
        return self._fresh(key, said_first, missing=missing)

    def ask_to_go_on(self, *said_first: str) -> tuple[str, tuple[Choice, ...]]:
        """Ask whether to go on, naming what is still missing; the choices are yes and no."""
        missing = listed([self._named(param, of) for param, of in self._missing_params()], self.language)
        return self._fresh("asking.go_on", said_first, missing=missing), self._yes_or_no()

    def offer(self, *said_first: str) -> tuple[str, tuple[Choice, ...]]:
        """Offer to go on with what was interrupted, by its title; the choices are yes and no."""
        titles = list(dict.fromkeys(title(progress.endpoint, self.language) for progress in self.collecting.endpoints))
        return self._fresh("asking.offer", said_first, title=listed(titles, self.language)), self._yes_or_no()

    def _yes_or_no(self) -> tuple[Choice, ...]:
        return tuple(
            Choice(
                title=text(f"asking.{answer}_title", self.language),
                payload=text(f"asking.{answer}_value", self.language),
            )
            for answer in ("yes", "no")
        )

    def ask_which(self, param: Param, doubt: Doubt, *said_first: str) -> tuple[str, tuple[Choice, ...]]:
        """Ask which of two readings was meant; each choice is written so that it has only one."""
        choices = tuple(
            Choice(
                title=" – ".join(shown(param, end, self.language, self.now.tzinfo) for end in ends),
                payload=" – ".join(self._payload(end) for end in ends),
            )
            for ends in (
                zip(doubt.options, doubt.until, strict=True) if doubt.until else zip(doubt.options, strict=True)
            )
        )
        options = listed([choice.title for choice in choices], self.language, word="or")
        return self._fresh("asking.doubt", said_first, options=options), choices

    def _payload(self, option: JsonValue) -> str:
        written = str(option)
        return written.replace(".", ",") if isinstance(option, float) and self.language != "en" else written

    def got(self, news: News) -> str:
        """Repeat what was understood; empty when nothing was."""
        if not news:
            return ""
        wordings = phrases("asking.got", self.language)
        return wordings[self.collecting.turns % len(wordings)].format(known=self._list_values(news))

    def known(self) -> str:
        """Say all that is known so far."""
        values = known_values(self.collecting)
        if not values:
            return text("asking.known_nothing", self.language)
        return text("asking.known", self.language, known=self._list_values(values))

    def explained(self) -> str:
        """Explain the first missing parameter in the catalogue's own words."""
        params = self._missing_params()
        meant = explained(params[0][0], self.language) if params else ""
        return text("asking.help", self.language, explained=meant)

    def refusal(self, refused: Refused) -> str:
        """Say why something that was said cannot be taken."""
        if refused.fault == "before_start":
            return text("asking.before_start", self.language)
        return text(f"asking.{refused.fault}", self.language, said=refused.words)

    def say(self, key: str, **values: object) -> str:
        return text(f"asking.{key}", self.language, **values)

    def listed_values(self, collecting: Collecting, found: Sequence[Found]) -> tuple[str, ...]:
        """Show values that were taken for the endpoints of a collection, each with its label."""
        pairs = [
            (param_of(spec), said.value)
            for progress, taken in zip(collecting.endpoints, found, strict=True)
            for name, said in taken.items()
            if isinstance(said, Said) and (spec := progress.endpoint.param(name)) is not None
        ]
        return tuple(dict.fromkeys(map(self._value, pairs)))

    def _value(self, known: tuple[Param, JsonValue]) -> str:
        param, value = known
        return text(
            "asking.got_value", self.language, label=label(param, self.language),
            value=shown(param, value, self.language, self.now.tzinfo),
        )  # fmt: skip

    def _list_values(self, values: News) -> str:
        return listed(list(map(self._value, values)), self.language)

    def _missing_params(self) -> list[tuple[Param, str]]:
        """List what is missing; a label that two of them share gets its endpoint's title beside it."""
        found: dict[str, tuple[Param, str]] = {}
        for progress in self.collecting.endpoints:
            for name in progress.missing:
                spec = progress.endpoint.param(name)
                if spec is not None and name not in found:
                    found[name] = (param_of(spec), title(progress.endpoint, self.language))
        labels = Counter(label(param, self.language) for param, _ in found.values())
        return [(param, of if labels[label(param, self.language)] > 1 else "") for param, of in found.values()]

    def _missing_with_examples(self) -> str:
        parts = [asked_for(param, self.language, year=self.now.year, of=of) for param, of in self._missing_params()]
        return listed(parts, self.language)

    def _named(self, param: Param, of: str) -> str:
        named = text("asking.the", self.language, label=label(param, self.language))
        return text("asking.of_title", self.language, label=named, title=of) if of else named

    def _fresh(self, key: str, said_first: Sequence[str], **values: str) -> str:
        """Take the next wording of the key that differs from the last question."""
        wordings = phrases(key, self.language)
        opening = " ".join(part for part in said_first if part)
        for step in range(len(wordings)):
            wording = wordings[(self.collecting.turns + step) % len(wordings)].format(**values)
            question = f"{opening} {wording}".strip()
            if wording not in self.collecting.last_question:
                return question
        return question


def names_of_flags(collecting: Collecting) -> frozenset[str]:
    """Name the yes-or-no parameters; at the continuation prompt a yes is not meant for them."""
    return frozenset(
        spec.name for p in collecting.endpoints for spec in p.endpoint.params if param_of(spec).kind is Kind.BOOLEAN
    )
