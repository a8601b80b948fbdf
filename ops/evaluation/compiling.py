"""Compiles a judgement's program with DSPy: worked examples that the model itself got right, chosen from the cases.

Half of the cases are given to the optimiser, the other half measures the program before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ops.evaluation.judges import Case, candidates_of, cases_of
from schemas.base import Frozen
from schemas.endpoints import Endpoint
from schemas.usage import Judgement
from workers.classification.disambiguator import asked_of
from workers.classification.signatures import EndpointDisambiguation, IntentDecomposition
from workers.llm.backend import Backend
from workers.llm.programs import program_path
from workers.runtime.settings import LlmSettings

if TYPE_CHECKING:
    import dspy


Endpoints = Mapping[str, Endpoint]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a judgement is compiled: its signature, a case as the signature's fields, and what is right."""

    signature: type[dspy.Signature]
    fields: Callable[[Endpoints, Case], dict[str, object]]
    inputs: tuple[str, ...]
    is_right: Callable[[Case, Any], bool]


class Compiled(Frozen):
    """Where the program lies, on how many examples it stands, and its accuracy on the cases kept back."""

    path: str
    examples: int
    held_back: int
    accuracy_before: float
    accuracy_after: float


def _pick_fields(endpoints: Endpoints, case: Case) -> dict[str, object]:
    ids = {name: endpoints[name].endpoint_id for name in case["among"]}
    best = ids.get(case["pick"], "none")
    return {**asked_of(case["message"], candidates_of(endpoints, case)), "best_endpoint_id": best}


def _has_picked(case: Case, said: Any) -> bool:
    return str(said.best_endpoint_id).strip() == str(case["best_endpoint_id"])


def _split_fields(_: Endpoints, case: Case) -> dict[str, object]:
    mode = "parallel" if case["parts"] > 1 else "single"
    return {"user_query": case["message"], "mode": mode, "parts": case["parts"]}


def _has_split(case: Case, said: Any) -> bool:
    if str(said.mode).strip().lower() != case["mode"]:
        return False
    return bool(case["mode"] == "single" or len(said.sub_queries or ()) == case["parts"])


RECIPES: Mapping[Judgement, Recipe] = MappingProxyType(
    {
        "endpoint_disambiguation": Recipe(
            signature=EndpointDisambiguation,
            fields=_pick_fields,
            inputs=("user_query", "candidates"),
            is_right=_has_picked,
        ),
        "intent_decomposition": Recipe(
            signature=IntentDecomposition, fields=_split_fields, inputs=("user_query",), is_right=_has_split
        ),
    }
)


def compile_program(
    judgement: Judgement, endpoints: Endpoints, settings: LlmSettings, *, version: str, most: int = 4
) -> Compiled:
    """Compile and keep the program as a version that `LLM_PROGRAMS` may name.

    Raises ValueError for a version that is no plain name or exists already, and when the model got no case right.
    """
    import dspy

    path = program_path(settings.programs_dir, judgement, version)
    if path.exists():
        raise ValueError(f"{path} exists already: choose another version, or delete it")
    recipe = RECIPES[judgement]
    examples = [
        dspy.Example(**recipe.fields(endpoints, case)).with_inputs(*recipe.inputs) for case in cases_of(judgement)
    ]
    given, held_back = examples[::2], examples[1::2]
    student: Any = dspy.Predict(recipe.signature)
    with Backend.of(settings).for_programs():
        optimiser = dspy.BootstrapFewShot(
            metric=lambda case, said, _trace=None: recipe.is_right(case, said),
            max_bootstrapped_demos=most,
            max_labeled_demos=0,
            max_errors=len(given),
        )
        before = _accuracy(student, held_back, recipe)
        compiled = optimiser.compile(student, trainset=given)
        after = _accuracy(compiled, held_back, recipe)
    if not compiled.demos:
        raise ValueError(f"{settings.model} got none of {len(given)} cases of {judgement} right: nothing to learn from")
    path.parent.mkdir(parents=True, exist_ok=True)
    compiled.save(str(path))
    return Compiled(
        path=str(path),
        examples=len(compiled.demos),
        held_back=len(held_back),
        accuracy_before=before,
        accuracy_after=after,
    )


def _accuracy(program: Any, cases: Sequence[dspy.Example], recipe: Recipe) -> float:
    from dspy.utils.exceptions import DSPyError

    right = 0
    for case in cases:
        try:
            right += recipe.is_right(case, program(**case.inputs()))
        except (DSPyError, OSError, ValueError):  # nothing that can be read is not right
            continue
    return round(right / len(cases), 3)
