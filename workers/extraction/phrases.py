"""Finds names and noun phrases in English words: quotes, runs of capitals, what follows "of" and "about"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.extraction.clues import is_clue, small_words
from workers.extraction.text import Text, fold, overlaps, words_of

Span = tuple[int, int]

_QUOTED = re.compile(
    r"[\"“„«](?P<double>[^\"”“»]{1,200})[\"”“»]|(?<!\w)['‘](?P<single>\S(?:[^\n'’]{0,198}?\S)?)['’](?!\w)"
)
_CAPITAL = r"[A-ZÄÖÜÕŠŽ][\w&'’.-]*[\w.]|[A-ZÄÖÜÕŠŽ]"
_RUN = re.compile(
    rf"(?<![\w'])(?:{_CAPITAL})"
    rf"(?:\s(?:(?:of|de|van|von|der|la|le|the|and the|vs\.?|&)\s(?:the\s)?)?(?:{_CAPITAL}|\d+(?!\S)))*"
)
_STATE = re.compile(r",\s+(?:[A-Z]{2,3}(?!\w)|[A-Z]\.[A-Z]\.|[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)(?=[\s?.,!]|$)")
_NOUNS = re.compile(
    r"(?<!\w)(?:of|for|about|on|regarding|called|named|(?<!would )(?<!i'd )(?<!i )like|with)\s+"
    r"(?!to\s|\w+ing\s+(?:me|us)\b)"
    r"(?:the\s+|an?\s+)?"
    r"(?P<said>[^\W\d_][\w'-]*(?:\s(?!(?:in|at|on|for|from|to|with|by|and|or|of|using|is|are|that|which|who|between|during|"
    r"under|over|near|per|as|if|when|where|i|we|you|they)\b)[\w'-]+){0,3})"
)
_PRONOUNS = frozenset(
    {"me", "my", "it", "you", "us", "them", "him", "her", "this", "that", "these", "those", "all", "any", "some", "now"}
)
_NAME_OPENERS = frozenset(
    {
        "New",
        "San",
        "Santa",
        "Los",
        "Las",
        "Saint",
        "St.",
        "Port",
        "Cape",
        "Palo",
        "Kuala",
        "The",
        "Mount",
        "Lake",
        "Fort",
        "El",
        "North",
        "South",
    }
)
# Words that say how much or which, and never what.
_QUANTITIES = frozenset(
    {
        "maximum", "minimum", "total", "average", "best", "worst", "top", "latest", "upcoming", "recent", "current",
        "month", "week", "year", "day", "next", "last", "first", "new", "full", "specific", "certain", "different",
        "various", "several", "popular", "nearby", "local", "more", "most", "less", "least", "further", "detailed",
        "details", "information", "info", "data", "results", "result", "people", "person", "someone", "something",
        "things", "thing", "way", "ways", "kind", "type", "types", "question", "questions", "help", "today", "tomorrow",
    }
)  # fmt: skip
_HEAD = re.compile(r"(?:the|a|an)\s+([^\W\d_]+)\s+of\s+(?:the\s+)?$")
_EDGE = ".,;:!?"
_ANSWER_OPENERS = frozenset(
    {
        "how", "why", "try", "yes", "no", "ok", "okay", "sure", "great", "please", "perhaps", "maybe", "would", "shall",
        "should", "could", "there", "here", "unfortunately", "sorry", "found", "confirming", "just", "you", "your",
        "another", "one", "also", "next", "it",
        "its", "they", "their", "we", "our", "my", "this", "that", "got", "does",
    }
)  # fmt: skip
# A street after its number.
_NUMBERED = re.compile(r"\d\w*\s+(?:(?:north|south|east|west|[nsew]\.?)\s+)?$", re.IGNORECASE)
_HOUSE_NUMBER = re.compile(r"(?<![\w.,:#-])(\d{1,5}[A-Za-z]?)\s+$")
_STREET = re.compile(
    r"\b(?:Avenue|Ave|Street|St|Boulevard|Blvd|Road|Rd|Lane|Ln|Drive|Dr|Way|Court|Ct|Place|Plaza|Square|Terrace|Parkway|"
    r"Highway|Circle|Camino|Alley|Row)\b"
)
_UNIT_OF_HOUSE = re.compile(r"\s+#\s?\w{1,5}(?!\w)")
_LONG_NUMBER = 3
_SPEAKER = re.compile(r"I(?:['’](?:m|d|ll|ve))?")
# A full stop after a word ends a sentence, after "St." and "J." it does not.
_SENTENCE_END = re.compile(r"(?<!\bSt)(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMt)(?<!\bFt)(?<!\bvs)(?<=\w\w)\.(?=\s)")
_MONTHS_AND_DAYS = re.compile(
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|"
    r"sat(?:urday)?|sun(?:day)?)s?\.?"
)


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """A name as it was written."""

    text: str
    start: int
    end: int
    is_quoted: bool = False

    def is_new(self, own: frozenset[str]) -> bool:
        """Whether it is more than the words by which the endpoint describes itself."""
        words = [word.folded for word in words_of(fold(self.text))]
        return any(not any(is_clue(word, one) for one in own) for word in words if word not in small_words())


def phrases_in(raw: str, blocked: Sequence[Span]) -> list[Phrase]:
    """Return quotes and runs of capitals, in order; runs that touch a blocked stretch are left out."""
    found = list(_quotes(raw))
    taken = [*blocked, *((phrase.start, phrase.end) for phrase in found)]
    found += [run for run in _runs(raw) if not overlaps(run.start, run.end, taken)]
    return sorted(found, key=lambda phrase: phrase.start)


def names_in_answer(raw: str, blocked: Sequence[Span]) -> list[Phrase]:
    """Return quotes and runs of capitals in an answer of ours, where a sentence may well begin with a name."""
    found = list(_quotes(raw))
    taken = [*blocked, *((phrase.start, phrase.end) for phrase in found)]
    for match in _RUN.finditer(raw):
        start, last = match.span()
        stop = _SENTENCE_END.search(raw, start, last)
        end = stop.start() if stop else last
        opens = re.search(r"(?:^|[.!?:]\s+)$", raw[:start]) is not None
        first = re.match(r"\S+", raw[start:end])
        word = fold(first.group()).strip(_EDGE) if first else ""
        if opens and first and (word in small_words() or word in _ANSWER_OPENERS):
            rest = re.match(r"\s+", raw[start + first.end() : end])
            start = start + first.end() + (rest.end() if rest else 0)
        said = raw[start:end].rstrip(_EDGE)
        if _NUMBERED.search(raw[:start]) or (opens and " " not in said and start == match.start()):
            continue  # a street after its number; one word with the capital of its sentence
        if said and not overlaps(start, end, taken) and not _SPEAKER.fullmatch(said) and not _is_day(said):
            found.append(Phrase(text=_without_owner(said), start=start, end=start + len(said)))
    return sorted(found, key=lambda phrase: phrase.start)


def _is_day(said: str) -> bool:
    return _MONTHS_AND_DAYS.fullmatch(said.lower()) is not None


def _quotes(raw: str) -> Iterator[Phrase]:
    for match in _QUOTED.finditer(raw):
        start, end = match.span("double" if match["double"] else "single")
        if end - start < len(raw) - 3:
            yield Phrase(text=raw[start:end].strip(), start=start, end=end, is_quoted=True)


def _runs(raw: str) -> Iterator[Phrase]:
    for match in _RUN.finditer(raw):
        first, last = match.span()
        stop = _SENTENCE_END.search(raw, first, last)
        start, end = _without_opening(raw, first, stop.end() if stop else last)
        while end > start and raw[end - 1] in _EDGE and not re.search(r"\b[A-Z]\.(?:[A-Z]\.)*$", raw[start:end]):
            end -= 1
        state = _STATE.match(raw, end)
        end = state.end() if state else end
        start, end = _with_house_number(raw, start, end)
        said = raw[start:end]
        if said and not _SPEAKER.fullmatch(said) and not _MONTHS_AND_DAYS.fullmatch(said.lower()):
            yield Phrase(text=_without_owner(said), start=start, end=start + len(_without_owner(said)))


def _with_house_number(raw: str, start: int, end: int) -> Span:
    """Read "3236 Grand Avenue" and "4906 West El Camino Real # A" whole, where a street's word stands in the run."""
    number = _HOUSE_NUMBER.search(raw, 0, start)
    if number is None or not (_STREET.search(raw, start, end) or len(number[1]) >= _LONG_NUMBER):
        return start, end
    unit = _UNIT_OF_HOUSE.match(raw, end)
    return number.start(1), unit.end() if unit else end


def _without_owner(said: str) -> str:
    return re.sub(r"['’]s?$", "", said)


def _without_opening(raw: str, start: int, end: int) -> Span:
    """Leave out the first word of a sentence: its capital says nothing, unless a whole name stands there."""
    opens = re.search(r"(?:^|[.!?:]\s+|^['\"“]\s*)$", raw[:start])
    if not opens:
        return start, end
    first = re.match(r"\S+\s*", raw[start:end])
    word = first.group().strip().lower() if first else ""
    is_name = first is not None and first.end() < end - start and word not in small_words() and _is_name(raw[start:end])
    return (start, end) if is_name else (start + (first.end() if first else 0), end)


def _is_name(said: str) -> bool:
    """Whether a run at a sentence's start is a name and no verb before one: "New York" and not "Book Hamlet"."""
    return said.split(maxsplit=1)[0] in _NAME_OPENERS


def noun_phrases(text: Text, own: frozenset[str]) -> Iterator[Span]:
    """Yield what stands after "of", "about" and the like, in order, without the endpoint's own words at its ends."""
    folded = text.folded
    for match in _NOUNS.finditer(folded):
        start, end = match.span("said")
        head = _HEAD.search(folded[:start]) if match.group().startswith("of ") else None
        if head and not _is_idle(head[1], own):
            start = head.start(1)
        is_indefinite = re.search(r"\ban?\s+$", folded[:start])
        words = [w for w in text.words if start <= w.start and w.end <= end]
        while words and _is_idle(words[0].folded, own):
            words.pop(0)
        while words and _is_idle(words[-1].folded, own):
            words.pop()
        is_formula = re.match(r"\s?[\^*/=+(\d]", folded[words[-1].end :]) if words else None
        if not words or is_indefinite or is_formula or words[0].folded in _PRONOUNS or words[0].folded[:1].isdigit():
            continue
        yield words[0].start, words[-1].end


def _is_idle(word: str, own: frozenset[str]) -> bool:
    return word in small_words() or word in _QUANTITIES or any(is_clue(word, one) for one in own)
