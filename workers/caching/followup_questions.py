"""Tells whether a message asks about the last result, so that it can be answered without a call. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from workers.caching.followup_reading import Reading
from workers.caching.followup_values import Value, takers
from workers.messages.asking import DIMENSIONS, Wish, words_of_key

_PLACES = frozenset(["address", "place", "street", "town", "city", "county", "from", "to", "location"])

_ESTONIAN_VERB = re.compile(r"\w{2,}(?:b|vad|ti|di|takse|dakse|nud|tud)")

Rule = tuple[str, float, Callable[[Reading], bool]]


def question(reading: Reading) -> tuple[str, float]:
    """Return the rule by which the message is a question about the result, and how sure; ("", 0) when it is none.

    Words that nothing explains, an endpoint that has changed since, values that would need another call, and fields
    that the result lacks make it none.
    """
    is_kept = bool(reading.last.result and reading.last.fields) and reading.last.version == reading.view.version
    if is_kept and _picks(reading):
        return "picks_from_them", 0.8
    if not is_kept or (reading.values and not _are_filters(reading)):
        return "", 0.0
    is_of_one_word = _of_it(reading) or _of_one(reading) or _of_a_field(reading)
    if is_of_one_word or reading.unknown:
        return ("asks_of_one_word", 0.5) if is_of_one_word else ("", 0.0)
    if reading.has("same", "corrections") and not reading.has("back"):
        return "", 0.0
    if (reading.wants("superlatives") and not _has_dimension(reading)) or _asks_for_no_place_of_it(reading):
        return "", 0.0
    return next(((reason, sure) for reason, sure, holds in _RULES if holds(reading)), ("", 0.0))


def _picks(reading: Reading) -> bool:
    """Whether it asks for some "of those": then it is about what was answered, whatever it asks of it.

    What stands before may only ask ("which", "is any one"): "what is the weather on the first of those" is about
    something else. A value that is no day would need another call.
    """
    if reading.picks_at < 0 or any(value.sort not in ("day", "year") for value in reading.values):
        return False
    return not any(at < reading.picks_at for at in reading.unknown | reading.in_values)


def _has_dimension(reading: Reading) -> bool:
    """Whether the result carries what the superlative measures."""
    carried = _carried(reading)
    needed = [DIMENSIONS[each.value.split()[0]] for each in reading.wants("superlatives")]
    return any(not words or words & carried for words in needed)


def _of_one(reading: Reading) -> bool:
    """Whether it asks for something that one of them carries, in all but one word: "where did I catch the second"."""
    is_plain = len(reading.unknown) == 1 and not reading.values
    is_carried = bool(reading.wants("concepts", "fields")) or (
        reading.has("where") and bool(_PLACES & _carried(reading))
    )
    pointing = (*reading.wants("ordinals"), *(reading.wants("superlatives") if _has_dimension(reading) else ()))
    # "the next elections": what it points at is something else.
    is_at_it = bool(pointing) and not any(
        each.end in reading.unknown and not _is_verb(reading, each.end) for each in pointing
    )
    return is_plain and is_carried and is_at_it and not _asks_for_no_place_of_it(reading)


def _of_a_field(reading: Reading) -> bool:
    """Whether it asks how something is that was found: "is the wind strong?". A question word names nothing."""
    if len(reading.unknown) != 1 or reading.values or not reading.text.endswith("?") or reading.has("actions"):
        return False
    asks = reading.said["asks"] | reading.said["small"]
    named = [each for each in reading.wants("concepts") if not set(range(each.first, each.end)) <= asks]
    return bool(named) and min(reading.unknown) > min(each.first for each in named)


def _is_verb(reading: Reading, at: int) -> bool:
    """Whether an Estonian word has a verb's ending: "millal esimene tehti" asks about the first, not a first thing."""
    return reading.language == "et" and _ESTONIAN_VERB.fullmatch(reading.words[at].folded) is not None


def _of_it(reading: Reading) -> bool:
    """Whether all it says is one word of what was found: "is it still active?". An action is none of its words."""
    if reading.values or not reading.has("subjects") or not reading.text.endswith("?") or reading.has("actions"):
        return False
    is_of_nothing_else = not reading.wanted and not reading.on_topic
    return is_of_nothing_else and len(reading.unknown) <= 1 and not reading.has("same", "where")


def _asks_for_no_place_of_it(reading: Reading) -> bool:
    """Whether it asks where, of a result that names no place: "where do I pay it?"."""
    return reading.has("where") and not _PLACES & _carried(reading)


def _are_filters(reading: Reading) -> bool:
    """Whether the values pick from what was found ("which of them are on a Monday") rather than ask for more."""
    has_dates = bool(_carried(reading) & DIMENSIONS["time"])
    are_days = all(value.sort in ("day", "year") for value in reading.values)
    if any(value.sort == "year" and _is_another_year(value, reading) for value in reading.values):
        return False
    is_plain = reading.text.endswith("?") and reading.opener_end == 0
    is_pointing = reading.has("back") or bool(reading.wants("ordinals", "superlatives"))
    picks = is_pointing and (is_plain or reading.has("asks") or bool(reading.wants("counts")))
    return are_days and has_dates and picks and not reading.has("same", "corrections")


def _is_another_year(value: Value, reading: Reading) -> bool:
    """Whether the call could have been made for that year, and was made for another."""
    asked_for = [str(reading.last.arguments.get(param.name, "")) for param in takers(value, reading.view.params)]
    return bool(asked_for) and not any(said.startswith(reading.words[value.first].text) for said in asked_for)


def _carried(reading: Reading) -> frozenset[str]:
    return frozenset(word for field in reading.last.fields for word in words_of_key(field))


def _is_asking(reading: Reading) -> bool:
    return reading.has("asks", "back") or reading.text.endswith("?") or reading.opener_end > 0


def _in_order(reading: Reading) -> bool:
    return bool(reading.wants("ordinals")) and _is_asking(reading)


def _how_many(reading: Reading) -> bool:
    """Counting needs what is counted: them, nothing named, or the endpoint's own things."""
    if not reading.wants("counts"):
        return False
    led = reading.said["small"] | reading.said["back"] | reading.said["polite"] | reading.said["asks"]
    counted = _places(reading, "counts") | _places(reading, "totals") | frozenset(range(reading.opener_end))
    return frozenset(range(len(reading.words))) - led - counted <= reading.on_topic


def _places(reading: Reading, wish: Wish) -> frozenset[int]:
    return frozenset(at for each in reading.wants(wish) for at in range(each.first, each.end))


def _a_field(reading: Reading) -> bool:
    return bool(reading.wants("concepts", "fields")) and _is_asking(reading)


def _all_of_it(reading: Reading) -> bool:
    is_thanks = reading.has("thanks")  # "thanks, that's all"
    return bool(reading.wants("all")) and not is_thanks and reading.has("back", "polite", "asks")


def _a_part(reading: Reading) -> bool:
    """One word of the answer or of the endpoint's description, after an opener: "and the snow?"."""
    named = (reading.in_answer | reading.in_description) - reading.in_values - reading.said["small"]
    return len(named) == 1 and reading.opener_end > 0


_RULES: tuple[Rule, ...] = (
    ("asks_for_the_most", 0.8, lambda reading: bool(reading.wants("superlatives"))),
    ("asks_for_one_in_order", 0.8, _in_order),
    ("asks_which_of_them", 0.8, lambda reading: bool(reading.values)),
    ("asks_how_many", 0.8, _how_many),
    ("asks_for_a_field_of_it", 0.8, lambda reading: _a_field(reading) and reading.has("back")),
    ("asks_for_a_field", 0.75, _a_field),
    ("asks_for_the_sum", 0.75, lambda reading: bool(reading.wants("totals")) and _is_asking(reading)),
    ("asks_for_all", 0.75, _all_of_it),
    ("asks_for_a_part", 0.6, _a_part),
)
