"""One message, read once for all parameters: its days, numbers, names, and what the person does not want."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from schemas.endpoints import Language
from workers.extraction.calendar_math import Calendar
from workers.extraction.kinds import Kind
from workers.extraction.params import Param
from workers.extraction.phrases import Phrase, phrases_in
from workers.extraction.text import Text, overlaps, same_stem
from workers.extraction.values_clocks import ClockMention, clocks_in
from workers.extraction.values_codes import CodeMention, addresses_in, codes_in, identifiers_in
from workers.extraction.values_dates import Days
from workers.extraction.values_names import NameKind, NameMention, names_in
from workers.extraction.values_numbers import NumberMention, numbers
from workers.extraction.values_ranges import read_days
from workers.extraction.wording import holds, plain_words, starts_phrase

Span = tuple[int, int]

_GAP = re.compile(
    r"[\s:=\-(\"'.№#]*(?:(?:is|are|on|as|was|will be|number|no|nr|of|for|to be|это|номер|код|mark|at|in|v|with|"
    r"equal to|numbriga|numbrimargiga|koodiga|a|an|the|minu|my)[\s:=\-(\"'.]+){0,2}[\s:=\-(\"']*"
)
_CLAUSE_END = re.compile(r"[,;:!?()\n]|\.(?=\s|$)|(?<!\w)(?:but|vaid|а|но|and|ja|aga|и|hoopis|use|to|from)(?!\w)")
# "not more than 100" is a limit, no exclusion.
_LIMIT = re.compile(
    r"\s*(?:exceed\w*|more|less|over|under|only|later|earlier|above|below|rohkem|vahem|ule|alla|hiljem|varem|ainult|"
    r"более|менее|больше|меньше|позже|позднее|раньше|только|свыше|выше|ниже|четверти)(?!\w)"
)
_WORDS_EXCLUDED = 4
_BLOCKING = (Kind.EMAIL, Kind.URL, Kind.IBAN, Kind.UUID)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A message with all that was found in it. `now` is aware, in the chat's zone."""

    text: Text
    language: Language
    now: datetime

    def without(self, spans: Sequence[Span]) -> Reading:
        """Return this with those stretches blank; every place in it stays the same."""
        raw = self.text.raw
        for start, end in spans:
            raw = f"{raw[:start]}{' ' * (end - start)}{raw[end:]}"
        return replace(self, text=Text(raw)) if spans else self

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(word.folded.replace("'", "") for word in self.text.words)

    @cached_property
    def calendar(self) -> Calendar:
        return Calendar(today=self.now.date(), looks_back=holds(self.words, "past"), month_first=self.language == "en")

    @cached_property
    def excluded(self) -> list[Span]:
        """Stretches that the person does not want: "not Estonia", "mitte Eesti", "Eesti asemel", "кроме Эстонии"."""
        return list(self._excluded())

    def _excluded(self) -> Iterator[Span]:
        words = self.text.words
        for place, word in enumerate(words):
            length = starts_phrase(self.words, place, "except")
            begin = words[place + length - 1].end if length else 0
            if (
                length
                and re.match(r"[ -]", self.text.folded[begin : begin + 1])
                and not _LIMIT.match(self.text.folded, begin)
                and not _is_weather(self.words, place)
            ):
                limit = words[min(place + length - 1 + _WORDS_EXCLUDED, len(words) - 1)].end
                stop = _CLAUSE_END.search(self.text.folded, begin, limit)
                yield begin, stop.start() if stop else limit
            if place and starts_phrase(self.words, place, "except_after"):
                yield words[place - 1].start, word.start

    @cached_property
    def days(self) -> list[Days]:
        blocked = [(code.start, code.end) for kind in _BLOCKING for code in self.codes(kind)]
        return [
            days
            for days in read_days(self.text, self.calendar)
            if self.is_wanted(days.start, days.end) and not overlaps(days.start, days.end, blocked)
        ]

    @cached_property
    def day_spans(self) -> list[Span]:
        """Where days stand; a plain year blocks nothing, since it may be a number as well."""
        return [(days.start, days.end) for days in self.days if days.grain != "year"]

    @cached_property
    def clock_spans(self) -> list[Span]:
        """Where times of day stand that can be nothing else."""
        return [(clock.start, clock.end) for clock in self.clocks if clock.is_told]

    @cached_property
    def code_spans(self) -> list[Span]:
        return [(code.start, code.end) for kind in _BLOCKING for code in self.codes(kind)]

    @cached_property
    def clocks(self) -> list[ClockMention]:
        """Times of day."""
        found = (clock for clock in clocks_in(self.text) if self.is_wanted(clock.start, clock.end))
        return [clock for clock in found if not overlaps(clock.start, clock.end, self.code_spans)]

    @cached_property
    def numbers(self) -> list[NumberMention]:
        """Numbers that are no part of a date, a time of day or a code."""
        blocked = [*self.day_spans, *self.clock_spans, *self.code_spans]
        return [
            number
            for number in numbers(self.text, self.language)
            if self.is_wanted(number.start, number.end) and not overlaps(number.start, number.end, blocked)
        ]

    @cached_property
    def every_number(self) -> list[NumberMention]:
        """Numbers that are no part of a code or a time of day; those of dates too."""
        blocked = [*self.clock_spans, *self.code_spans]
        return [
            number
            for number in numbers(self.text, self.language)
            if self.is_wanted(number.start, number.end) and not overlaps(number.start, number.end, blocked)
        ]

    @cached_property
    def phrases(self) -> list[Phrase]:
        """Quotes and runs of capitals, without days and codes."""
        found = phrases_in(self.text.raw, [*self.day_spans, *self.code_spans])
        return [phrase for phrase in found if self.is_wanted(phrase.start, phrase.end)]

    def names(self, kind: NameKind) -> list[NameMention]:
        """Things of that kind that were named, unwanted ones left out."""
        return [name for name in names_in(self.text, kind) if self.is_wanted(name.start, name.end)]

    def codes(self, kind: Kind) -> list[CodeMention]:
        return [code for code in codes_in(self.text, kind) if self.is_wanted(code.start, code.end)]

    @cached_property
    def addresses(self) -> list[CodeMention]:
        taken = [*self.day_spans, *self.code_spans]
        found = (code for code in addresses_in(self.text) if self.is_wanted(code.start, code.end))
        return [code for code in found if not overlaps(code.start, code.end, taken)]

    def identifiers(self) -> list[CodeMention]:
        blocked = [*self.day_spans, *self.code_spans]
        return [
            code
            for code in identifiers_in(self.text)
            if self.is_wanted(code.start, code.end) and not overlaps(code.start, code.end, blocked)
        ]

    def is_wanted(self, start: int, end: int) -> bool:
        return not overlaps(start, end, self.excluded)

    @cached_property
    def corrects(self) -> bool:
        """Whether the person is putting something right."""
        return holds(self.words, "corrections")

    def label_spans(self, param: Param) -> list[Span]:
        """Find where the parameter is called by one of its names; longer names win."""
        known = self._label_spans.get(param.labels)
        if known is None:
            known = self._label_spans[param.labels] = self._find_labels(param)
        return known

    @cached_property
    def _label_spans(self) -> dict[tuple[tuple[str, ...], ...], list[Span]]:
        return {}

    def _find_labels(self, param: Param) -> list[Span]:
        found: list[Span] = []
        for label in param.labels:
            opening = label[0][:1]
            for place in range(len(self.text.words) - len(label) + 1):
                if self.text.words[place].folded[:1] != opening:
                    continue
                there = self.text.words[place : place + len(label)]
                span = (there[0].start, there[-1].end)
                if all(same_stem(w.folded, said) for w, said in zip(there, label, strict=True)) and not overlaps(
                    *span, found
                ):
                    found.append(span)
        return sorted(found)

    def is_labelled(self, spans: Sequence[Span], start: int, end: int, *, as_unit: bool = False) -> bool:
        """Whether one of those names stands right before the stretch ("page 3"), or as its unit after it ("10 km")."""
        folded = self.text.folded
        for label_start, label_end in spans:
            if label_end <= start and _GAP.fullmatch(folded, label_end, start):
                return True
            if as_unit and end <= label_start and re.fullmatch(r"[.\s-]{0,2}", folded[end:label_start]):
                return True
        return False


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where one endpoint's collection stands: what was just asked, what is known, which words are used up."""

    asked: Sequence[str]
    known: set[str]
    taken: list[Span]


def _is_weather(words: Sequence[str], place: int) -> bool:
    """Whether an Estonian "ilma" is the weather: as "without" it governs the abessive ("ilma rahata")."""
    return words[place] == "ilma" and not any(word.endswith("ta") for word in words[place + 1 : place + 3])


def read(message: str, *, language: Language, now: datetime) -> Reading:
    """Take a message for reading; what it holds is found when first asked for."""
    return Reading(text=Text.of(message), language=language, now=now)


def is_bare(reading: Reading, start: int, end: int) -> bool:
    """Whether the message holds nothing but that stretch, politeness and connecting words aside."""
    left = plain_words(reading.text.raw[:start]) + plain_words(reading.text.raw[end:])
    return all(starts_phrase([word], 0, "connectors") or starts_phrase([word], 0, "corrections") for word in left)
