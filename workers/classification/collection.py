"""Decides whether a message belongs to the collection that is open, or leaves it. Pure."""

from __future__ import annotations

from enum import StrEnum

from schemas.conversations import Collecting
from schemas.endpoints import Language
from workers.classification.matching import names
from workers.classification.requests import asks_outright, asks_somewhere, is_bare_value
from workers.classification.routes import Route
from workers.classification.siblings import is_sibling, own_cosine
from workers.classification.smalltalk import STEERING, Talk, small_talk
from workers.classification.words import folded_words
from workers.runtime.settings import RoutingSettings


class Reply(StrEnum):
    """What a message is to the open collection; each value is also the name of the rule."""

    REMARK = "remark"
    STEERING = "steering_reply"
    VALUE = "value_reply"
    PERHAPS_REQUEST = "perhaps_request"


def reply_to(text: str, collecting: Collecting, *, wording: Language) -> Reply:
    """Read a message inside a collection: a side remark, a word that steers it, a bare value, or perhaps a request."""
    talk = small_talk(text)
    if _is_offered_value(text, collecting):
        return Reply.VALUE
    if talk in STEERING or (talk is Talk.THANKS and collecting.awaiting_continuation):
        return Reply.STEERING
    if talk:
        return Reply.REMARK
    return Reply.VALUE if is_bare_value(text, wording) else Reply.PERHAPS_REQUEST


def _is_offered_value(text: str, collecting: Collecting) -> bool:
    """Whether the message is one of the allowed values of a parameter that was just asked for."""
    said = folded_words(text)
    options = (
        option
        for progress in collecting.endpoints
        for name in collecting.asked
        if (param := progress.endpoint.param(name))
        for option in param.enum
    )
    return any(
        folded_words(word) == said
        for option in options
        for word in (option.value, *option.labels.values(), *option.synonyms)
    )


def switches(text: str, route: Route, collecting: Collecting, *, settings: RoutingSettings, wording: Language) -> bool:
    """Whether the route leaves the collection: all its endpoints are others, and the message clearly asks for them.

    A worded request needs `switch_cosine`; mere keywords ("electricity prices") need `high_cosine` and a word of
    the endpoint's own name.
    """
    ours = {progress.endpoint.endpoint_id for progress in collecting.endpoints}
    reached = [found.candidate for found in route.found] or list(route.close)
    if any(candidate.endpoint.endpoint_id in ours for candidate in reached):
        return False
    strongest = max(reached, key=lambda candidate: candidate.cosine)
    if strongest.cosine - own_cosine(route.near, ours) < settings.gap:
        return False
    is_kin = any(is_sibling(progress.endpoint, strongest.endpoint) for progress in collecting.endpoints)
    if is_kin and asks_outright(text, wording) and not names(text, strongest.endpoint):
        return False  # "What is its phone number?" asks about what the service found
    if asks_somewhere(text, wording):
        return strongest.cosine >= settings.switch_cosine
    return strongest.cosine >= settings.high_cosine and names(text, strongest.endpoint)
