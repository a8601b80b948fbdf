"""What times of day look like in three languages, on folded text (small letters, no diacritics).

A form's groups say what it tells: `h` the hour, `m` the minutes; `past`, `to` and `part` a share of an hour after or
before it; `exact` a full hour; `late` and `early` the half of the day; `sign` a word that announces a time.
"""

from __future__ import annotations

import re
from datetime import time

# The half of the day, behind a time or before it.
_LATE = r"in the afternoon|in the evening|at night|tonight|(?:p\.m\.|pm)(?!\w)|parastlounal|ohtul|вечера|дня"
_EARLY = r"in the morning|(?:a\.m\.|am)(?!\w)|hommikul|oosel|утра|ночи"
_HALF_BEHIND = rf"(?:\s*(?:(?P<late>{_LATE})|(?P<early>{_EARLY})))?"
_LATE_BEFORE = r"(?P<late_before>(?:evening|afternoon)|(?:ohtul|parastlounal)(?: kella?)?|вечером(?: в)?)"
_EARLY_BEFORE = r"(?P<early_before>morning|hommikul(?: kella?)?|утром(?: в)?)"
_HALF_BEFORE = rf"(?:in the )?(?:{_LATE_BEFORE}|{_EARLY_BEFORE})\s+(?:at\s+|around\s+)?"

_SIGN = r"(?:(?P<sign>at|by|kell|kella|kl\.?|@|в|во|к)\s+)?"
_DIGITS = r"(?P<h>\d{1,2})"
_HOUR = r"(?P<h>\d{1,2}|[^\W\d_]+)"
_SHARE = r"quarter|a quarter|\d{1,2}(?: minutes?)?"
# "morning 2 buses": a number with a noun behind it counts something.
_NOUN = r"\s+(?!please|palun|пожалуиста|on|for|in|at|kell|sobib|would|is)[^\W\d_]{3,}"
# "5.30" alone is rather a number.
_POINT = r"\.(?=\d\d(?:\s*(?:[ap]\.?m|ohtul|hommikul)))"

_FORMS = (
    ("half past 11", rf"{_SIGN}(?P<past>half|{_SHARE}) past {_HOUR}(?: o'?clock)?"),
    ("quarter to six", rf"{_SIGN}(?P<to>{_SHARE}) to {_HOUR}(?: o'?clock)?"),
    ("kell pool kolm", rf"{_SIGN}(?P<part>veerand|pool|kolmveerand)\s+{_HOUR}"),
    ("в половине шестого", rf"(?:(?P<sign>в|к)\s+)?(?P<part>половин[аеу]|пол|четверть)\s*{_HOUR}"),
    ("без четверти шесть", rf"(?P<to>без четверти)\s+{_HOUR}"),
    ("in the evening at 8", rf"(?:{_SIGN}){_HALF_BEFORE}{_DIGITS}(?:[:.](?P<m>\d\d)|(?!{_NOUN}))"),
    ("kell 15.30", rf"(?P<sign>kell|kella|kl\.?)\s+{_DIGITS}\.(?P<m>\d\d)"),
    ("15:30", rf"{_SIGN}{_DIGITS}(?::|{_POINT})(?P<m>\d\d)(?::\d\d)?"),
    ("в 3 часа", rf"{_SIGN}{_HOUR}\s+(?P<exact>o'?clock|час(?:а|ов)?)"),
    ("at 5", rf"{_SIGN}{_DIGITS}"),
    ("five in the afternoon", rf"{_SIGN}(?P<h>[^\W\d_]+)(?=\s+(?:{_LATE}|{_EARLY}))"),
)
FORMS = tuple(
    re.compile(rf"(?<![\w:.,/+-]){form}{_HALF_BEHIND}(?![\w:]|[.,]\d|\s?(?:%|€))") for _example, form in _FORMS
)
"""The fuller forms come first."""

NAMED = (
    (re.compile(r"(?<!\w)(?:at |by )?(?:noon|midday)(?!\w)|(?<!\w)keskpaeval(?!\w)|(?<!\w)в полдень(?!\w)"), time(12)),
    (re.compile(r"(?<!\w)(?:at |by )?midnight(?!\w)|(?<!\w)keskool(?!\w)|(?<!\w)в полночь(?!\w)"), time(0)),
)

PARTS = {"veerand": -45, "pool": -30, "kolmveerand": -15, "пол": -30, "половина": -30, "четверть": -45}
"""Minutes to the hour that is named: "pool kolm" and "пол третьего" are 2:30."""

_ORDINALS = (
    "первого второго третьего четвертого пятого шестого седьмого восьмого девятого десятого одиннадцатого двенадцатого"
)
GENITIVE_HOURS = {word: hour for hour, word in enumerate(_ORDINALS.split(), start=1)}
SAYS_CLOCK = frozenset({"at", "kell", "kella", "kl", "kl.", "@"})
"""Signs after which a bare number may be a time."""
