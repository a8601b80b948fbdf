"""Compiles a judgement's program with DSPy: worked examples that the model itself got right, chosen from the cases.

Half of the cases are given to the optimiser, the other half measures the program before and after. What a judgement is
asked, and whether an answer is right, is found out by letting the room's own judge do its work: once with a model that
only notes the question, once with one that says the answer to be judged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ops.evaluation.bench import Bench, Case, cases_of, demo_endpoints
from ops.evaluation.judges import JUDGES
from ops.evaluation.shelf import Shelf
from schemas.base import Frozen
from schemas.usage import Judgement
from workers.errors import ModelFailed
from workers.llm.backend import Backend
from workers.llm.programs import program_path
from workers.retrieval.embedder import open_embedder
from workers.runtime.settings import Settings

if TYPE_CHECKING:
    import dspy


class Compiled(Frozen):
    """Where the program lies, on how many examples it stands, and its accuracy on the cases kept back."""

    path: str
    examples: int
    held_back: int
    accuracy_before: float
    accuracy_after: float


class _Noting:
    """A model that notes what it is asked and never answers."""

    def __init__(self) -> None:
        self.asked: tuple[type[dspy.Signature], dict[str, object]] | None = None

    async def ask(self, signature: type[dspy.Signature], **inputs: object) -> dspy.Prediction:
        self.asked = (signature, inputs)
        raise ModelFailed("only noting")

    async def stream(self, signature: type[dspy.Signature], field: str, **inputs: object) -> AsyncIterator[str]:  # noqa: ARG002 - as the model
        self.asked = (signature, inputs)
        raise ModelFailed("only noting")
        yield ""


@dataclass(frozen=True)
class _Saying:
    """A model that says what it is told to."""

    said: Any

    async def ask(self, signature: type[dspy.Signature], **inputs: object) -> dspy.Prediction:  # noqa: ARG002 - as above
        answer: dspy.Prediction = self.said
        return answer

    async def stream(self, signature: type[dspy.Signature], field: str, **inputs: object) -> AsyncIterator[str]:  # noqa: ARG002 - as above
        yield str(getattr(self.said, field))


def _is_split(case: Case, said: Any) -> bool:
    mode = "parallel" if case["parts"] > 1 else "single"
    return str(said.mode).strip().lower() == mode


def _finds_nothing_else(case: Case, said: Any) -> bool:
    return isinstance(said.found, Mapping) and set(said.found) <= set(case["values"])


# Where the rules mend or ignore what a model says, its own words must be right as well: they become the example.
_BESIDES: Mapping[str, Callable[[Case, Any], bool]] = MappingProxyType(
    {"intent_decomposition": _is_split, "parameter_extraction": _finds_nothing_else}
)


@dataclass(frozen=True)
class Workshop:
    """One judgement's cases as questions to a program, and the verdict on its answers."""

    judgement: Judgement
    bench: Bench

    @classmethod
    def open(cls, judgement: Judgement, settings: Settings) -> Workshop:
        """Read the demo catalogue; no model is asked."""
        shelf = Shelf(open_embedder(settings.retrieval), settings.routing)
        nobody: Any = _Noting()
        return cls(judgement, Bench(model=nobody, settings=settings, endpoints=demo_endpoints(), shelf=shelf))

    def questions(self) -> tuple[type[dspy.Signature], list[dspy.Example]]:
        """Return the signature, and each case that leads to a question as an example. Raises ValueError for none."""
        import dspy

        judge = JUDGES[self.judgement]
        cases = judge.cases(self.bench) if judge.cases else cases_of(self.judgement)
        signature: type[dspy.Signature] | None = None
        examples: list[dspy.Example] = []
        for case in cases:
            noting: Any = _Noting()
            asyncio.run(judge.by_model(replace(self.bench, model=noting), case))
            if noting.asked is None:
                continue
            signature, inputs = noting.asked
            examples.append(dspy.Example(**inputs, case=case).with_inputs(*inputs))
        if signature is None:
            raise ValueError(f"no case of {self.judgement} leads to a question")
        return signature, examples

    def is_right(self, example: dspy.Example, said: Any, _trace: object = None) -> bool:
        """Whether the room's judge, given this answer, comes to the label."""
        case: Case = example["case"]
        beside = _BESIDES.get(self.judgement)
        if beside is not None and not beside(case, said):
            return False
        saying: Any = _Saying(said)
        return asyncio.run(JUDGES[self.judgement].by_model(replace(self.bench, model=saying), case)).is_right


def compile_program(judgement: Judgement, settings: Settings, *, version: str, most: int = 4) -> Compiled:
    """Compile and keep the program as a version that `LLM_PROGRAMS` may name.

    Raises ValueError for a version that is no plain name or exists already, and when the model is not to be had or
    got no case right.
    """
    import dspy
    from dspy.utils.exceptions import DSPyError

    # It would tell each failed case with everything that the judge holds, thousands of lines; we tell the last one.
    logging.getLogger("dspy.teleprompt.bootstrap").setLevel(logging.CRITICAL)
    path = program_path(settings.llm.programs_dir, judgement, version)
    if path.exists():
        raise ValueError(f"{path} exists already: choose another version, or delete it")
    shop = Workshop.open(judgement, settings)
    signature, examples = shop.questions()
    given, held_back = examples[::2], examples[1::2]
    student: Any = dspy.Predict(signature)
    with Backend.of(settings.llm).for_programs():
        optimiser = dspy.BootstrapFewShot(
            metric=shop.is_right, max_bootstrapped_demos=most, max_labeled_demos=0, max_errors=len(given)
        )
        before = _accuracy(student, held_back, shop)
        try:
            compiled = optimiser.compile(student, trainset=given)
        except (DSPyError, OSError) as error:
            first = next(iter(str(error).splitlines()), "")
            raise ValueError(
                f"the model answered no case of {judgement}: {type(error).__name__}, {first}. "
                "See LLM_MODEL, LLM_API_BASE and LLM_API_KEY."
            ) from error
        after = _accuracy(compiled, held_back, shop)
    if not compiled.demos:
        raise ValueError(
            f"{settings.llm.model} got none of {len(given)} cases of {judgement} right: nothing to learn from"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    compiled.save(str(path))
    return Compiled(
        path=str(path),
        examples=len(compiled.demos),
        held_back=len(held_back),
        accuracy_before=before,
        accuracy_after=after,
    )


def _accuracy(program: Any, cases: Sequence[dspy.Example], shop: Workshop) -> float:
    from dspy.utils.exceptions import DSPyError

    right = 0
    for case in cases:
        try:
            right += shop.is_right(case, program(**case.inputs()))
        except (DSPyError, OSError, ValueError):  # nothing that can be read is not right
            continue
    return round(right / len(cases), 3)
