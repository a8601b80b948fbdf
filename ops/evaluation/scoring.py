"""Counts what dialogues came to: goals, slots, values nobody gave, needless questions. Pure.

Turn, slot and goal figures agree with the labelled sets' own scorer (`score.py` beside them).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from ops.evaluation.cases import CaseTurn, DialogueCase, Expectation, ExpectedCall, PredictedCall, Prediction
from ops.evaluation.comparing import is_accepted, is_right_call
from schemas.base import Frozen, JsonValue
from schemas.endpoints import Endpoint

Predictions = Mapping[tuple[str, int], Prediction]


class DialogueFigures(Frozen):
    """The numbers of one group; shares of nothing are None.

    `joint_goal`: expected calls whose every value is right. `call_match`: turns whose calls are all right and no more.
    `false_fills`: filled slots for which nothing was given; `wrong_values`: filled otherwise than it was given; both
    as shares of the filled slots. `over_asking`: parameters asked for although they were given, of those asked for.
    `ask_recall`: turns at which all that is missing is asked for. `rejected`: turns with nothing to call that called
    nothing. `extraction_p50_ms`: median time of a message in the collection's loop. `turns_right` and
    `dialogues_right` need labels of kind (question, tool_call …).
    """

    dialogues: int
    turns: int
    endpoint_top1: float | None
    endpoint_set: float | None
    joint_goal: float | None
    call_match: float | None
    slot_precision: float | None
    slot_recall: float | None
    slot_f1: float | None
    false_fills: float | None
    wrong_values: float | None
    filled: int
    over_asking: float | None
    ask_recall: float | None
    rejected: float | None
    turns_right: float | None
    dialogues_right: float | None
    extraction_p50_ms: float | None


class DialogueReport(Frozen):
    """All dialogues, and those of each language and each task."""

    model: str
    endpoints: int
    overall: DialogueFigures
    languages: dict[str, DialogueFigures]
    tasks: dict[str, DialogueFigures]


def report(
    cases: Sequence[DialogueCase], predictions: Predictions, *, endpoints: Mapping[str, Endpoint], model: str
) -> DialogueReport:
    """Count all, each language, each task."""
    groups: dict[tuple[str, str], list[DialogueCase]] = defaultdict(list)
    for case in cases:
        groups["lang", case.lang].append(case)
        groups["task", case.task].append(case)
    counted = {key: figures(group, predictions, endpoints=endpoints) for key, group in sorted(groups.items())}
    return DialogueReport(
        model=model,
        endpoints=len(endpoints),
        overall=figures(cases, predictions, endpoints=endpoints),
        languages={name: found for (kind, name), found in counted.items() if kind == "lang"},
        tasks={name: found for (kind, name), found in counted.items() if kind == "task"},
    )


def figures(
    cases: Sequence[DialogueCase], predictions: Predictions, *, endpoints: Mapping[str, Endpoint]
) -> DialogueFigures:
    """Count one group. A turn without a prediction counts as one that called and asked nothing."""
    count: Counter[str] = Counter()
    elapsed: list[float] = []
    for case in cases:
        verdicts = []
        for at, turn in enumerate(case.turns):
            found = predictions.get((case.id, at)) or Prediction(id=case.id, turn=at)
            elapsed += [found.elapsed_ms] if found.elapsed_ms else []
            named = _by_label(found, turn.expect, endpoints)
            _count_turn(count, turn, named, loosely=case.is_led_elsewhere)
            if turn.expect.kind:
                verdicts.append(_is_right_turn(turn.expect, found, endpoints))
        count.update(told=len(verdicts), right=sum(verdicts))
        count.update(judged=bool(verdicts), passed=bool(verdicts) and all(verdicts))
    return _figures(count, cases, elapsed)


def _figures(count: Counter[str], cases: Sequence[DialogueCase], elapsed: Sequence[float]) -> DialogueFigures:
    def share(part: str, whole: str) -> float | None:
        return round(count[part] / count[whole], 4) if count[whole] else None

    filled = count["slot_right"] + count["slot_wrong"]
    precision = count["slot_right"] / filled if filled else 0.0
    recall = count["slot_right"] / count["slot_given"] if count["slot_given"] else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    count["filled"] = filled
    return DialogueFigures(
        dialogues=len(cases),
        turns=sum(len(case.turns) for case in cases),
        endpoint_top1=share("top1", "called"),
        endpoint_set=share("set_exact", "called"),
        joint_goal=share("goal_right", "goals"),
        call_match=share("calls_right", "called"),
        slot_precision=round(precision, 4) if filled else None,
        slot_recall=round(recall, 4) if count["slot_given"] else None,
        slot_f1=round(f1, 4) if count["slot_given"] else None,
        false_fills=share("false_fill", "filled"),
        wrong_values=share("wrong_value", "filled"),
        filled=filled,
        over_asking=share("over_asked", "asked"),
        ask_recall=share("ask_right", "to_ask"),
        rejected=share("rejected", "none"),
        turns_right=share("right", "told"),
        dialogues_right=share("passed", "judged"),
        extraction_p50_ms=round(median(elapsed), 2) if elapsed else None,
    )


def _count_turn(count: Counter[str], turn: CaseTurn, found: Prediction, *, loosely: bool) -> None:
    expect = turn.expect
    if expect.relevance_only:
        return
    if expect.ask:
        count["to_ask"] += 1
        count["ask_right"] += _asks(expect, found)
    if not expect.endpoints:
        if not expect.ask and not expect.kind:
            count["none"] += 1
            count["rejected"] += not found.endpoints
        return
    meant = set(expect.endpoints)
    count["called"] += 1
    count["top1"] += bool(found.endpoints) and found.endpoints[0] in meant
    count["set_exact"] += set(found.endpoints) == meant
    _count_calls(count, expect, found, loosely=loosely)
    for call, right in _paired(expect.calls, found.calls, loosely=loosely):
        _count_slots(count, call, right, expect, loosely=loosely)
    given = {name for right in expect.calls for name in right.params if name not in right.optional_params}
    count["asked"] += len(found.ask)
    count["over_asked"] += len(given & set(found.ask))


def _asks(expect: Expectation, found: Prediction) -> bool:
    if isinstance(expect.ask, bool):
        return bool(found.ask) or not found.calls
    return set(expect.ask) <= set(found.ask)


def _count_calls(count: Counter[str], expect: Expectation, found: Prediction, *, loosely: bool) -> None:
    used: set[int] = set()
    for right in expect.calls:
        fitting = (
            at for at, call in enumerate(found.calls) if at not in used and is_right_call(call, right, loosely=loosely)
        )
        place = next(fitting, None)
        used |= {place} if place is not None else set()
    count["calls_right"] += len(used) == len(expect.calls) == len(found.calls)
    count["goals"] += len(expect.calls)
    count["goal_right"] += sum(
        any(is_right_call(call, right, loosely=loosely) for call in found.calls) for right in expect.calls
    )


def _paired(
    expected: Sequence[ExpectedCall], calls: Sequence[PredictedCall], *, loosely: bool
) -> list[tuple[PredictedCall | None, ExpectedCall]]:
    """Give every expected call the call of its endpoint that has most of its values; None when there is none."""
    left = list(calls)
    paired: list[tuple[PredictedCall | None, ExpectedCall]] = []
    for right in expected:
        same = [call for call in left if call.endpoint == right.endpoint]
        best = max(same, key=lambda call: _hits(call, right, loosely=loosely), default=None)
        if best is not None:
            left.remove(best)
        paired.append((best, right))
    return paired


def _hits(call: PredictedCall, right: ExpectedCall, *, loosely: bool) -> int:
    return sum(
        name in call.params and is_accepted(call.params[name], accepted, loosely=loosely)
        for name, accepted in right.params.items()
    )


def _count_slots(
    count: Counter[str], call: PredictedCall | None, right: ExpectedCall, expect: Expectation, *, loosely: bool
) -> None:
    values = call.params if call else {}
    for name, accepted in right.params.items():
        if name in values:
            is_right = is_accepted(values[name], accepted, loosely=loosely)
            count["slot_right" if is_right else "slot_wrong"] += 1
            count["wrong_value"] += not is_right
        elif name in right.optional_params:
            continue
        count["slot_given"] += 1
    extra = [name for name in values if name not in right.params and name not in right.optional_params]
    carried = {key.rpartition(".")[2] for key in expect.carry}
    count["slot_wrong"] += len(extra)
    count["false_fill"] += sum(name not in carried for name in extra)


def _by_label(found: Prediction, expect: Expectation, endpoints: Mapping[str, Endpoint]) -> Prediction:
    """Read values under the names of a label that is of an earlier schema.

    Such a label names parameters that the endpoint no longer has; what it gives for them stands under another name.
    """
    if not _is_outdated(expect, endpoints):
        return found
    rights = {right.endpoint: right for right in expect.calls}
    calls = tuple(
        call.model_copy(update={"params": _renamed(call.params, rights[call.endpoint], endpoints[call.endpoint])})
        if call.endpoint in rights and call.endpoint in endpoints
        else call
        for call in found.calls
    )
    return found.model_copy(update={"calls": calls})


def _renamed(values: Mapping[str, JsonValue], right: ExpectedCall, endpoint: Endpoint) -> dict[str, JsonValue]:
    renamed = dict(values)
    for gone in (name for name in right.params if endpoint.param(name) is None):
        accepted = right.params[gone]
        fitting = (n for n, v in renamed.items() if n not in right.params and is_accepted(v, accepted, loosely=False))
        name = next(fitting, None)
        if name is not None:
            renamed[gone] = renamed.pop(name)
    return renamed


def _is_right_turn(expect: Expectation, found: Prediction, endpoints: Mapping[str, Endpoint]) -> bool:
    """Judge a turn by its kind.

    A label of an earlier schema, which names parameters that the endpoint no longer has, is right with a question. A
    question where the person has given all that is required already is not owed: a call is as good, or better.
    """
    if expect.endpoints and set(found.endpoints) != set(expect.endpoints):
        return False
    if expect.kind == "tool_call" and _is_outdated(expect, endpoints):
        return found.kind == "question"
    if expect.kind == "tool_call":
        return (
            found.kind == "tool_call"
            and len(found.calls) == len(expect.calls)
            and all(any(is_right_call(call, right, loosely=False) for call in found.calls) for right in expect.calls)
        )
    if expect.kind == "question":
        has_all = found.kind == "tool_call" and not expect.endpoints
        return (found.kind == "question" or has_all) and _holds_given(expect, found)
    return found.kind == expect.kind


def _is_outdated(expect: Expectation, endpoints: Mapping[str, Endpoint]) -> bool:
    return any(
        endpoints[call.endpoint].param(name) is None
        for call in expect.calls
        if call.endpoint in endpoints
        for name in call.params
    )


def _holds_given(expect: Expectation, found: Prediction) -> bool:
    """Whether what was given by then is known, whatever else is."""
    return all(
        any(
            call.endpoint == right.endpoint and _hits(call, right, loosely=False) == len(right.params)
            for call in found.calls
        )
        for right in expect.calls
    )
