"""What names of days look like in three languages, each form beside its reader."""

from __future__ import annotations

import re

from workers.extraction import calendar_words as words
from workers.extraction.calendar_math import Calendar
from workers.extraction.values_dates import (
    ORDINALS,
    Days,
    Reader,
    read_adverb_year,
    read_away,
    read_day_month,
    read_day_of_month,
    read_days_month,
    read_end_of_unit,
    read_following,
    read_iso,
    read_month,
    read_named_unit,
    read_numbered_day,
    read_numeric,
    read_plain_year,
    read_quarter,
    read_relative,
    read_run,
    read_short,
    read_weekday,
    read_weekday_of_week,
    read_weekend,
)
from workers.extraction.values_seasons import read_season

_YEAR_TAIL = r"(?:\.?\s*(?:aasta\w*|a\b\.?|год\w*|г\b\.?))?"
_OF_YEAR = rf"(?:\s*,?\s*(?:of\s+)?(?P<y>(?:19|20|21)\d\d)(?![\d])(?!:\d){_YEAR_TAIL}|\s+'(?P<yy>\d\d)\b)?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th|\.|-?(?:го|ого|ое|е))?"
_WHICH = rf"(?:(?P<this>{words.THIS})|(?P<next>{words.NEXT})|(?P<last>{words.LAST}))"
_COUNT_OR_ONE = r"(?:(?P<n>\d{1,4}|[^\W\d_]+)\s+)?"
_COUNT = r"(?P<n>\d{1,4}|[^\W\d_]+)"
_UNIT = (
    rf"(?:(?P<weekend>{words.WEEKEND_UNIT})|(?P<day>{words.DAY_UNIT})|(?P<week>{words.WEEK_UNIT})"
    rf"|(?P<month>{words.MONTH_UNIT})|(?P<quarter>{words.QUARTER_UNIT})|(?P<year>{words.YEAR_UNIT}))(?!\w)"
)
_TIME = r"[T ](?P<H>\d{1,2}):(?P<M>\d\d)(?::(?P<S>\d\d)(?:\.\d+)?)?\s?(?P<zone>z|[+-]\d\d:?\d\d)?(?!\d)"
_PLACE = rf"(?P<before>(?:{words.ON}|{words.FROM}|{words.TO}|alates|kuni)\s+)?"
_MONTH = rf"(?P<month>{words.MONTH})\b"
_RANGE_SIGN = r"\s*(?:-|to|until|till|through|kuni|по|до|and|ja|и)\s*"

# A numbered day without its month stands at the end of what is said, or before such a word: "the 2nd floor" is none.
_ENDS = (
    r"(?=\s*(?:[,;?!)]|\.(?:\s|$)|$)|\s+to\s+the\s+\d|\s+(?:in|at|from|until|till|through|and|or|for|by|please|with|around|near|of|"
    r"if|when|as|then|instead|actually|but|i|we|there|works?|would|will|is|should)(?!\w))"
)
_NAMED_WEEK = rf"{_WHICH}\s+(?:{words.WEEK_UNIT})(?!\w)"

# "1.01 euros" is an amount and no first of January.
_NO_AMOUNT = (
    r"(?!\s?(?:[€$£%]|eur\w*|usd|gbp|sek|евро|dollar\w*|доллар\w*|kroon\w*|kron[aeo]\w*|крон\w*|sent\w*|cent\w*|"
    r"цент\w*|km|kg|m|cm|kwh|mwh|protsen\w*|percent|процент\w*|kraad\w*|degree\w*|million\w*|miljon\w*|thousand|"
    r"tuha\w*|тысяч\w*)(?!\w))"
)

_FORMS: tuple[tuple[str, Reader], ...] = (
    (rf"(?<![\w])(?P<y>\d{{4}})-(?P<m>\d{{1,2}})-(?P<d>\d{{1,2}})(?!\d)(?:{_TIME.replace('T', 't')})?", read_iso),
    (r"(?<!\w)(?P<y>\d{4})[./](?P<m>\d{1,2})[./](?P<d>\d{1,2})(?!\d)(?P<H>)(?P<M>)(?P<S>)(?P<zone>)", read_iso),
    (
        rf"(?<![\w.])(?P<d>\d{{1,2}})(?P<sep>[./-])\s?(?P<m>\d{{1,2}})(?P=sep)\s?(?P<y>\d{{4}}|\d\d)(?!\w)(?!\.\d){_YEAR_TAIL}",
        read_numeric,
    ),
    (
        rf"(?<![\w.,:])(?P<d>\d{{1,2}})\.?(?:th|st|nd|rd)?{_RANGE_SIGN}(?P<d2>\d{{1,2}})(?:\.|st|nd|rd|th|-?(?:го|е))?\s*(?:of\s+)?{_MONTH}\.?{_OF_YEAR}",
        read_days_month,
    ),
    (
        rf"(?<!\w)(?P<month>{words.MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?{_RANGE_SIGN}(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?![\w.:])(?:{_OF_YEAR})",
        read_days_month,
    ),
    (rf"(?<![\w.,:]){_DAY}\s*(?:of\s+)?{_MONTH}\.?{_OF_YEAR}", read_day_month),
    (
        rf"(?<!\w)(?P<month>{words.MONTH})(?:\.\s*|\s+)(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:])(?!\.\d){_OF_YEAR}",
        read_day_month,
    ),
    (rf"(?<![\w.,:]){_DAY}\s*(?:of\s+)(?:the\s+)?{_WHICH}\s+month(?!\w)", read_day_of_month),
    (rf"(?<!\w)the\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th){_ENDS}", read_numbered_day),
    (r"(?<=on\s)the\s+(?P<d>\d{1,2})(?:st|nd|rd|th)(?=\s+to(?!\w))", read_numbered_day),
    (r"(?<![\w.,:])(?P<d>\d{1,2})\.?\s+kuupaeva\w{0,3}(?!\w)", read_numbered_day),
    (r"(?<![\w.,:])(?P<d>\d{1,2})(?:-?(?:го|ого|ое|е))?\s+числ(?:а|о|у)(?!\w)", read_numbered_day),
    (rf"(?<!\w){_PLACE}(?:{_WHICH}\s+)?{_MONTH}\.?{_OF_YEAR}", read_month),
    (
        rf"(?<![\w-])(?:q(?P<q>[1-4])|(?P<roman>i{{1,3}}|iv)\.?\s+(?:{words.QUARTER_UNIT})|(?P<ordinal>{'|'.join(ORDINALS)})\s+(?:{words.QUARTER_UNIT}))(?!\w)(?:\s+(?:of\s+)?(?:{words.QUARTER_UNIT}))?{_OF_YEAR}",
        read_quarter,
    ),
    (
        rf"(?<![\w])(?P<q>[1-4])\.?(?:-?(?:и|ыи|ом|м))?\s+(?:{words.QUARTER_UNIT})(?!\w)(?P<roman>)(?P<ordinal>){_OF_YEAR}",
        read_quarter,
    ),
    (rf"(?<!\w)(?:the\s+)?(?:end of|до конца|конца|к концу)\s+(?:the\s+)?(?:{_WHICH}\s+)?{_UNIT}", read_end_of_unit),
    (
        rf"(?<!\w)(?:{_WHICH}\s+)?(?:(?P<weekend>nadalavahetuse)|(?P<day>paeva)|(?P<week>nadala)|(?P<month>kuu)|(?P<quarter>kvartali)|(?P<year>aasta))\s+lopu(?:ni|ks)(?!\w)",
        read_end_of_unit,
    ),
    (
        rf"(?<!\w)(?:the\s+)?(?:(?P<last>{words.LAST})|(?P<next>{words.NEXT})|(?P<this>\b\B))\s+{_COUNT}\s+{_UNIT}",
        read_run,
    ),
    (rf"(?<!\w)(?:in\s+{_COUNT}\s+|через\s+{_COUNT_OR_ONE.replace('<n>', '<one>')}){_UNIT}", read_away(1)),
    (rf"(?<!\w){_COUNT}\s+{_UNIT}\s+(?:from now|later|parast)(?!\w)", read_away(1)),
    (rf"(?<!\w){_COUNT}\s+{_UNIT}\s+(?:ago|tagasi|назад)(?!\w)", read_away(-1)),
    (rf"(?<!\w)(?:at\s+|on\s+|на\s+)?(?:the\s+)?(?:{words.WEEKEND_UNIT})(?!\w)", read_weekend),
    (rf"(?<!\w)(?P<y>(?:19|20)\d\d)(?:\.?\s*(?:aasta\w*|год\w*|a\.?))?,?\s+{_MONTH}(?P<yy>)(?P<before>)", read_month),
    (rf"(?<!\w){_WHICH}\s+(?P<season>{words.SEASON})(?!\w){_OF_YEAR}", read_season),
    (rf"(?<!\w)(?:in|during|over)\s+(?:the\s+)?(?P<season>{words.ENGLISH_SEASON})(?!\w){_OF_YEAR}", read_season),
    (rf"(?<!\w)(?P<season>{words.IN_SEASON})(?!\w){_OF_YEAR}", read_season),
    (rf"(?<!\w)(?P<season>{words.SEASON}),?\s+(?:of\s+)?(?P<y>20\d\d)(?!\w){_YEAR_TAIL}(?P<yy>)", read_season),
    (
        rf"(?<!\w)(?P<y>20\d\d)(?:\.?\s*(?:aasta|года))?\s+(?P<season>{words.SEASON})(?!\w)(?P<yy>)",
        read_season,
    ),
    (
        r"(?<!\w)(?:the (?:next|following) day|the day after(?! tomorrow)|jargmisel paeval|на следующии день)(?!\w)",
        read_following,
    ),
    (rf"(?<!\w)(?:the\s+)?{_WHICH}\s+{_UNIT}", read_named_unit),
    (r"(?<!\w)(?:tanavu|(?P<last>mullu))(?!\w)(?! aasta)", read_adverb_year),
    (rf"(?<!\w)(?:{_PLACE}(?:the\s+)?(?:{_WHICH}\s+)?)(?P<weekday>{words.WEEKDAY})(?!\w)", read_weekday),
    (
        rf"(?<!\w){_PLACE}(?P<weekday>{words.WEEKDAY}),?\s+(?:of\s+|in\s+|на\s+)?{_NAMED_WEEK}",
        read_weekday_of_week,
    ),
    (
        rf"(?<!\w){_PLACE}{_NAMED_WEEK},?\s+(?:on\s+|в\s+|во\s+)?(?P<weekday>{words.WEEKDAY})(?!\w)",
        read_weekday_of_week,
    ),
    *((rf"(?<!\w)(?:{pattern})(?!\w)", read_relative(days)) for pattern, days in words.RELATIVE_DAYS.items()),
    (
        rf"(?<![\w.,:/+-])(?P<y>(?:19|20)\d\d)(?![\w:/%]|[.,-]\d|\s?(?:€|eur\b|km\b|kg\b|kwh\b)){_YEAR_TAIL}",
        read_plain_year,
    ),
    (rf"(?<![\w.,$€£])(?P<d>\d{{1,2}})\.(?P<m>\d{{2}})\.?(?![\w]|\.\d){_NO_AMOUNT}", read_short),
    (r"(?<![\w.,])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?![\w]|\d)", read_short),
)
_COMPILED = tuple((re.compile(pattern), reader) for pattern, reader in _FORMS)


def named_days(folded: str, calendar: Calendar) -> list[Days]:
    """Find every stretch of days in a folded text, in order; of two that overlap the longer one counts."""
    found = [
        days
        for pattern, reader in _COMPILED
        for match in pattern.finditer(folded)
        if (days := reader(match, calendar)) is not None
    ]
    chosen: list[Days] = []
    for days in sorted(found, key=lambda one: (one.start - one.end, one.start)):
        if all(days.end <= other.start or other.end <= days.start for other in chosen):
            chosen.append(days)
    return sorted(chosen, key=lambda one: one.start)
