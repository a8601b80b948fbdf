"""Which date expression belongs to which date parameter: pairs of from and to, single days, years."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from schemas.base import JsonValue
from workers.slotfilling.dates import DateSpan, find_dates
from workers.slotfilling.kinds import Kind
from workers.slotfilling.moments import as_date, as_moment
from workers.slotfilling.slot import Slot
from workers.slotfilling.text import Found, fold, is_negated

_DATE_LIKE = re.compile(r"(?<!\d)(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4})(?!\d)")


@dataclass
class DatesRead:
    """Values by slot name; `unsure` slots had two readings; `invalid` is written like a date and is none."""

    values: dict[str, JsonValue] = field(default_factory=dict)
    spent: list[Found] = field(default_factory=list)
    unsure: dict[str, DateSpan] = field(default_factory=dict)
    reopened: list[str] = field(default_factory=list)
    invalid: str = ""


@dataclass(frozen=True)
class _Period:
    """The date slots of one endpoint: a pair, or single ones. `start` or `end` may be absent."""

    start: Slot | None
    end: Slot | None
    others: tuple[Slot, ...] = ()

    @property
    def slots(self) -> tuple[Slot, ...]:
        return (*(slot for slot in (self.start, self.end) if slot), *self.others)

    @property
    def wants_moments(self) -> bool:
        return any(slot.kind is Kind.MOMENT for slot in self.slots)


def read_dates(
    text: str, slots: Sequence[Slot], *, known: Mapping[str, JsonValue], asked: Sequence[str], now: datetime
) -> DatesRead:
    """Read every date of the text for the slots that want one. `now` is aware, in the person's zone."""
    read = DatesRead()
    spans = [span for span in find_dates(text, today=now.date()) if not is_negated(text, span.start)]
    dated = [slot for slot in slots if slot.kind in (Kind.DATE, Kind.MOMENT)]
    years = [slot for slot in slots if slot.kind is Kind.YEAR]
    if not dated and not years:
        return read
    _read_years(spans, years, read)
    exact = [span for span in spans if span.grain != "year" or span.is_range]
    for period, own in _share_out(fold(text), _periods(dated), exact or spans):
        _fill(period, own, read, known=known, asked=asked, now=now)
    wanted = bool(read.values)
    read.spent += [Found("", span.start, span.end) for span in spans if wanted or dated]
    _note_invalid(text, spans, dated, read, known=known)
    return read


def _read_years(spans: Sequence[DateSpan], years: Sequence[Slot], read: DatesRead) -> None:
    found = [span for span in spans if span.grain == "year"]
    for slot, span in zip(years, found if len(found) > 1 else found * len(years), strict=False):
        year = span.first.year
        read.values[slot.name] = str(year) if slot.param.type == "string" else year


def _periods(dated: Sequence[Slot]) -> list[_Period]:
    """Group the date slots by the endpoints that own them."""
    groups: dict[tuple[str, ...], list[Slot]] = {}
    for slot in dated:
        groups.setdefault(tuple(owner.endpoint_id for owner in slot.owners), []).append(slot)
    periods = []
    for members in groups.values():
        start = next((slot for slot in members if slot.role == "start"), None)
        end = next((slot for slot in members if slot.role == "end"), None)
        periods.append(_Period(start, end, tuple(slot for slot in members if slot not in (start, end))))
    return periods


def _share_out(
    folded: str, periods: Sequence[_Period], spans: Sequence[DateSpan]
) -> Iterator[tuple[_Period, list[DateSpan]]]:
    """Give each period its spans: those that its endpoint's words precede, or of its type; else all of them."""
    if len(periods) == 1:
        yield periods[0], list(spans)
        return
    owned = {place: _owner(folded, periods, spans, place) for place in range(len(spans))}
    for number, period in enumerate(periods):
        mine = [spans[place] for place, owner in owned.items() if owner == number]
        free = [spans[place] for place, owner in owned.items() if owner is None]
        yield period, mine or free


def _owner(folded: str, periods: Sequence[_Period], spans: Sequence[DateSpan], place: int) -> int | None:
    """Return the period whose words stand nearest before the span; moments go to the only period that wants them."""
    span = spans[place]
    since = spans[place - 1].end if place else 0
    nearest: list[tuple[int, int]] = []
    for number, period in enumerate(periods):
        distances = [
            d
            for slot in period.slots
            for d in (
                slot.owner_before(folded, span.start, since=since),
                slot.label_before(folded, span.start, since=since),
            )
            if d >= 0
        ]
        if distances:
            nearest.append((min(distances), number))
    if nearest:
        return min(nearest)[1]
    if place and span.role == "end" and spans[place - 1].role == "start":
        return _owner(folded, periods, spans, place - 1)
    exact = [number for number, period in enumerate(periods) if period.wants_moments]
    has_moments = any(other.moment for other in spans)
    if has_moments and len(exact) == 1:
        rest = [number for number in range(len(periods)) if number not in exact]
        return exact[0] if span.moment else (rest[0] if len(rest) == 1 else None)
    return None


def _fill(
    period: _Period,
    spans: Sequence[DateSpan],
    read: DatesRead,
    *,
    known: Mapping[str, JsonValue],
    asked: Sequence[str],
    now: datetime,
) -> None:
    whole = next((s for s in spans if s.is_range or (s.grain != "day" and not s.role)), None)
    if whole is not None and (period.start or period.end):
        _put(period.start, whole, read, is_end=False, now=now)
        _put(period.end, whole, read, is_end=True, now=now)
    elif period.start or period.end:
        _fill_pair(period, spans, read, known=known, asked=asked, now=now)
    days = [span for span in spans if not span.role or not (period.start or period.end)]
    free = days[2:] if period.start and period.end else days
    for slot, span in zip(period.others, free, strict=False):
        _put(slot, span, read, is_end=False, now=now)


def _fill_pair(
    period: _Period,
    spans: Sequence[DateSpan],
    read: DatesRead,
    *,
    known: Mapping[str, JsonValue],
    asked: Sequence[str],
    now: datetime,
) -> None:
    for span in spans:
        if span.role:
            target = period.start if span.role == "start" else period.end
            _put(target, span, read, is_end=span.role == "end", now=now)
    free = [span for span in spans if not span.role]
    open_ = [s for s in (period.start, period.end) if s and s.name not in read.values]
    missing = [s for s in open_ if s.name not in known]
    if len(free) > 1 and len(open_) > 1:
        _put(period.start, free[0], read, is_end=False, now=now)
        _put(period.end, free[1], read, is_end=True, now=now)
    elif free and len(missing) == 1:
        _put(missing[0], free[0], read, is_end=missing[0] is period.end, now=now)
    elif free and len(missing) > 1 and not any(span.role for span in spans):
        _put(period.start, free[0], read, is_end=False, now=now)
        if free[0].is_relative or not asked:  # "today", "is 24 February a day off?": that day, whole
            _put(period.end, free[0], read, is_end=True, now=now)
    elif free and len(set(asked) & {slot.name for slot in open_}) == 1:
        slot = next(slot for slot in open_ if slot.name in asked)
        _put(slot, free[0], read, is_end=slot is period.end, now=now)


def _put(slot: Slot | None, span: DateSpan, read: DatesRead, *, is_end: bool, now: datetime) -> None:
    if slot is None:
        return
    if span.is_unsure:
        read.unsure[slot.name] = span
    elif slot.kind is Kind.MOMENT:
        read.values[slot.name] = as_moment(span, is_end=is_end, zone=now.tzinfo or now.astimezone().tzinfo)  # type: ignore[arg-type]
    else:
        read.values[slot.name] = as_date(span, is_end=is_end)


def _note_invalid(
    text: str, spans: Sequence[DateSpan], dated: Sequence[Slot], read: DatesRead, *, known: Mapping[str, JsonValue]
) -> None:
    """Reopen what an impossible date was meant to correct ("no, until 31.04.2026")."""
    for match in _DATE_LIKE.finditer(text):
        if any(span.start <= match.start() < span.end for span in spans) or not dated:
            continue
        read.invalid = match.group()
        read.spent.append(Found("", match.start(), match.end()))
        before = fold(text[max(0, match.start() - 20) : match.start()])
        is_end = re.search(r"\b(?:to|until|till|kuni|до|по)\s*$", before) is not None
        meant = [slot for slot in dated if slot.role == ("end" if is_end else "start")] or list(dated)
        read.reopened += [slot.name for slot in meant[:1] if slot.name in known and slot.name not in read.values]
