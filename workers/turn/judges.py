"""What language models have a say in during a turn; with the engine `rules` nothing, and DSPy is never loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from workers.caching.detector import FollowUpDetector
from workers.classification.chain import Advice, Classifier
from workers.classification.disambiguator import Disambiguator
from workers.classification.intent_detector import IntentDetector
from workers.classification.layer import EndpointSearcher
from workers.classification.splitter import Splitter
from workers.extraction.filler import Filler
from workers.formatting.writer import Writer
from workers.guarding.loading import guards_of
from workers.llm.ledger import Ledger
from workers.llm.model import LanguageModel
from workers.runtime.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Judges:
    """A room's judge is None where the rules decide alone."""

    model: LanguageModel | None = None
    advice: Advice = field(default_factory=Advice)
    filler: Filler | None = None
    writer: Writer | None = None
    detector: FollowUpDetector | None = None
    ledger: Ledger | None = None

    @classmethod
    async def open(cls, settings: Settings, ledger: Ledger) -> Self:
        """Open the models that the settings name. Raises ValueError for a guard or a program that is not there."""
        engine, guard = settings.llm.engine, settings.guard
        if engine == "rules":
            return cls()
        model = await LanguageModel.open(settings.llm, ledger=ledger)
        guards = guards_of(f"{guard.answers}, {guard.model_answers}", guard)
        writer = Writer(
            model=model,
            engine=engine,
            guards=guards,
            checks_single_whole=guard.single_answers_whole,
            instructions=settings.llm.instructions,
        )
        return cls(
            model=model,
            advice=Advice(
                disambiguator=Disambiguator(model),
                splitter=Splitter(model=model, engine=engine),
                intents=IntentDetector(model=model, engine=engine, settings=settings.routing),
            ),
            filler=Filler(model=model, engine=engine, guards=guards),
            writer=writer,
            detector=FollowUpDetector(model),
            ledger=ledger,
        )

    def classifier(self, search: EndpointSearcher, settings: Settings) -> Classifier:
        """Build the chain of layers with these judges and the guards of the settings."""
        return Classifier(
            search=search,
            settings=settings.routing,
            advice=self.advice,
            guards=guards_of(settings.guard.questions, settings.guard),
        )

    async def close(self) -> None:
        """Close the models' connections."""
        if self.model:
            await self.model.close()
