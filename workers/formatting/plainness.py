"""Tells which bodies the rules word as well as anybody would, so that no model need be asked. Pure."""

from __future__ import annotations

from schemas.base import JsonValue
from schemas.calls import ApiCall, CallFailed, CallOutcome
from schemas.endpoints import Language
from workers.formatting.evidence import gather
from workers.formatting.shape import FIELDS_SHOWN, ROWS_WITHOUT_CUT, unwrap
from workers.formatting.values import Reading

_LONGEST_TEXT = 300


def is_plain(call: ApiCall, outcome: CallOutcome, language: Language) -> bool:
    """Whether the operator gave a template, or the body is a value, a short object or a short list of such.

    Failures are plain too: there is a sentence for each.
    """
    rendering = call.endpoint.rendering
    if isinstance(outcome, CallFailed) or rendering.answer.get(language) or rendering.row.get(language):
        return True
    evidence = gather(outcome.body)
    if evidence.is_cut:
        return False
    found = unwrap(evidence.body, Reading(call=call, language=language, query_words=frozenset(), totals={}))
    if isinstance(found.value, list):
        is_short = found.total <= ROWS_WITHOUT_CUT
        return is_short and all(_is_flat(item) for item in found.value)
    return _is_flat(found.value)


def _is_flat(value: JsonValue) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_TEXT
    if isinstance(value, list):
        return False
    if isinstance(value, dict):
        return len(value) <= FIELDS_SHOWN and all(
            not isinstance(item, list | dict) and _is_flat(item) for item in value.values()
        )
    return True
