"""Goes on from one endpoint to another of the same service: found a table, now "book it". Pure.

Search alone can't tell them apart: what is said inside a conversation is short, and points back ("yes, book me one
there"). Endpoints are of one service when they were registered with the same `service_id`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from schemas.conversations import Utterance
from schemas.endpoints import Endpoint, Language
from schemas.routing import Candidate
from workers.classification.matching import telling_words
from workers.classification.requests import asks_outright, asks_somewhere, sentences
from workers.classification.vocabulary import vocabulary
from workers.classification.words import folded_words


def is_sibling(one: Endpoint, other: Endpoint) -> bool:
    """Whether both are of one service."""
    same = bool(one.service_id) and one.service_id == other.service_id
    return same and one.tenant == other.tenant and one.endpoint_id != other.endpoint_id


def own_cosine(near: Sequence[Candidate], ours: Collection[str]) -> float:
    """Return the highest cosine of our endpoints among what search found; 0 when none is."""
    return max((one.cosine for one in near if one.endpoint.endpoint_id in ours), default=0.0)


def sibling_meant(
    text: str, near: Sequence[Candidate], ours: Sequence[Endpoint], *, gap: float, wording: Language
) -> Candidate | None:
    """Return the sibling of our endpoints that a worded request is for, or None.

    It is the nearest sibling, no other service leads it by `gap`, and it is nearer than ours, or a word of the text is
    its own and not ours. A plain question about what was found asks for no other endpoint, and who is about to change
    something does not go back to looking it up.
    """
    if not asks_somewhere(text, wording) or asks_outright(text, wording):
        return None
    ids = {endpoint.endpoint_id for endpoint in ours}
    only_reads = all(endpoint.method == "GET" for endpoint in ours)
    siblings = [
        one
        for one in near
        if any(is_sibling(one.endpoint, our) for our in ours)
        and one.endpoint.endpoint_id not in ids
        and (only_reads or one.endpoint.method != "GET")
    ]
    best = max(siblings, key=lambda one: one.cosine, default=None)
    if best is None or max(one.cosine for one in near) - best.cosine >= gap:
        return None
    own = own_cosine(near, ids)
    said = telling_words(text)
    theirs, known = telling_words(_worded(best.endpoint)), [telling_words(_worded(one)) for one in ours]
    has_word = bool(said & (theirs - frozenset().union(*known)))
    is_ours = bool(said & (frozenset().union(*known) - theirs))
    return best if best.cosine - own >= gap or (has_word and not is_ours) else None


def _worded(endpoint: Endpoint) -> str:
    titles = " ".join((*endpoint.titles.values(), *endpoint.descriptions.values()))
    return f"{endpoint.name} {titles} {endpoint.description}"


def accepted_offer(text: str, said: Sequence[Utterance]) -> str | None:
    """Return the question of the last answer by which it offered something, where the message agrees to it."""
    words = folded_words(text)
    agreed = vocabulary("hear.agreed", "hear.compliment", "follow.agreed").match(words, 0)
    last = said[-1] if said else None
    if not agreed or last is None or last.role != "bot":
        return None
    question = next(iter(reversed(sentences(last.text))), "")
    offers = vocabulary("follow.offers").match(folded_words(question), 0)
    return question if offers and question.endswith("?") else None
