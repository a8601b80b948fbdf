"""Fills operators' templates; a field without a value takes its clause along, and nothing here raises."""

from __future__ import annotations

from collections.abc import Iterable

from workers.formatting.filters import FILTERS, say
from workers.formatting.paths import Missing
from workers.formatting.scope import Scope
from workers.formatting.templates import Field, Node, Optional, Sentence, parse

_SENTENCE_MARKS = ".!?…"


def fill(template: str, scope: Scope) -> str:
    """Return the template with its fields said; "" when no sentence could be said whole."""
    said = [(_sentence(sentence, scope), sentence.after) for sentence in parse(template)]
    text = "".join(words + after for words, after in said if words)
    return text.strip().replace("г..", "г.")


def _sentence(sentence: Sentence, scope: Scope) -> str:
    first, *rest = (_clause(clause, scope) for clause in sentence.clauses)
    if first is None:
        return ""
    text = first + "".join(clause for clause in rest if clause is not None)
    return text + _end_of(sentence) if rest and rest[-1] is None else text


def _end_of(sentence: Sentence) -> str:
    """The mark that ends the sentence, which a clause that was left out would have carried."""
    last = sentence.clauses[-1][-1]
    return last[-1] if isinstance(last, str) and last[-1:] in _SENTENCE_MARKS else ""


def _clause(nodes: Iterable[Node], scope: Scope) -> str | None:
    words = [_node(node, scope) for node in nodes]
    return None if None in words else "".join(word for word in words if word is not None)


def _node(node: Node, scope: Scope) -> str | None:
    if isinstance(node, str):
        return node
    if isinstance(node, Optional):
        return _clause(node.nodes, scope) or ""
    return _field(node, scope)


def _field(field: Field, scope: Scope) -> str | None:
    """Say a field; None when there is nothing to say."""
    value = scope.value(field.path)
    if isinstance(value, Missing):
        return next((step.arguments[0] for step in field.filters if step.name == "default" and step.arguments), None)
    for step in field.filters:
        work = FILTERS.get(step.name)
        value = work(value, step.arguments, scope) if work else value
        if value is None:
            return None
    return say(value, scope) or None
