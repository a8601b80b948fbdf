"""The calendar's words in three languages, as regular expressions over folded text (no accents; ё is е, й is и)."""

from __future__ import annotations

import re

_MONTHS = (
    r"jan(?:uary)?|jaan(?:uar\w{0,4})?|январ\w{0,3}|янв",
    r"feb(?:ruary)?|veebr(?:uar\w{0,4})?|феврал\w{0,3}|февр?",
    r"mar(?:ch)?|marts\w{0,4}|март\w{0,2}",
    r"apr(?:il)?|aprill\w{0,4}|апрел\w{0,3}|апр",
    r"may|mai(?:s|st|ni|l|ks|kuu\w{0,4})?|ма[иея]м?",
    r"june?|juuni(?:s|st|ni|l|ks|kuu\w{0,4})?|июн\w{0,2}",
    r"july?|juuli(?:s|st|ni|l|ks|kuu\w{0,4})?|июл\w{0,2}",
    r"aug(?:ust)?|august\w{1,4}|август\w{0,2}|авг",
    r"sept?(?:ember)?|septemb\w{2,6}|сентябр\w{0,3}|сент?",
    r"oct(?:ober)?|okt(?:oo?b\w{1,6})?|октябр\w{0,3}|окт",
    r"nov(?:ember)?|novemb\w{2,6}|ноябр\w{0,3}|нояб?",
    r"dec(?:ember)?|dets(?:emb\w{2,6})?|декабр\w{0,3}|дек",
)
_WEEKDAYS = (
    r"mon(?:day)?|esmaspaev\w{0,3}|понедельник\w{0,2}",
    r"tue(?:s|sday)?|teisipaev\w{0,3}|вторник\w{0,2}",
    r"wed(?:nesday)?|kolmapaev\w{0,3}|сред[уаыое]\w?",
    r"thu(?:rs|rsday)?|neljapaev\w{0,3}|четверг\w{0,2}",
    r"fri(?:day)?|reede\w{0,3}|пятниц\w{1,2}",
    r"sat(?:urday)?|laupaev\w{0,3}|суббот\w{1,2}",
    r"sun(?:day)?|puhapaev\w{0,3}|воскресень\w{1,2}",
)
MONTH = "|".join(_MONTHS)
WEEKDAY = "|".join(_WEEKDAYS)
_MONTH_PATTERNS = tuple(re.compile(pattern) for pattern in _MONTHS)
_WEEKDAY_PATTERNS = tuple(re.compile(pattern) for pattern in _WEEKDAYS)

# Month names that are ordinary words or short cuts; alone they mean a month only beside a preposition or a year.
SHY_MONTH = re.compile(r"may|mar|march|sun|jan|feb|apr|jun|jul|aug|sept?|oct|okt|nov|dec|dets|mai|mail|сен|дек|окт|ноя")

THIS = (
    r"this|current|the whole|whole|all|sel|selle|sellel|kaesolev\w*|tanavu\w*|kogu|terve|"
    r"эт(?:от|ом|ои|у|а|и|ого)|текущ\w+|нынешн\w+|весь|всю|целыи"
)
NEXT = (
    r"next|the next|coming|upcoming|following|jargmi\w+|tulev\w+|eelolev\w+|следующ\w+|будущ\w+|ближаиш\w+|предстоящ\w+"
)
LAST = r"last|the last|past|previous|eelmi\w+|moodunud|viima\w+|прошл\w+|предыдущ\w+|минувш\w+|последн\w+"

DAY_UNIT = r"days?|paeva\w*|paev|дн\w+|день|сут\w+"
WEEK_UNIT = r"weeks?|nadal\w*|недел\w*"
MONTH_UNIT = r"months?|kuu(?:d|s|l|ks|st|ni|le)?|месяц\w*"
YEAR_UNIT = r"years?|aasta\w*|год(?:а|у|ом|ы|ов)?|лет"
QUARTER_UNIT = r"quarters?|kvartal\w*|квартал\w*"
WEEKEND_UNIT = r"weekends?|nadalavahetus\w*|выходн\w+"

ENGLISH_SEASON = r"spring|summer|autumn|fall|winter"
IN_SEASON = r"kevadel|suvel|sugisel|talvel|веснои|летом|осенью|зимои"
SEASON = (
    rf"{ENGLISH_SEASON}|{IN_SEASON}|kevad(?:e|ise\w*)?|suv[ie]|sugis|sugise|sugisene|talv|talve|talvine|"
    r"весн[аеуы]|лето|лета|осен[ьи]|зим[аеуы]"
)

# Days named by their distance from today, the longer names first.
RELATIVE_DAYS: dict[str, int] = {
    r"(?:the )?day after tomorrow|overmorrow|ulehom(?:me|se\w*)|послезавтра(?:шн\w+)?": 2,
    r"(?:the )?day before yesterday|uleeil(?:e|se\w*)|позавчера(?:шн\w+)?": -2,
    r"tomorrow'?s?|tmrw|homme|homseks|homse(?:st|ni|l|le)?|hommsest|hommikust homme|завтра(?:шн\w+)?": 1,
    r"yesterday'?s?|eile|eilse\w*|вчера(?:шн\w+)?": -1,
    r"today'?s?|tonight|this (?:evening|morning|afternoon)|tana(?:se\w{0,2})?|taneks|сегодня(?:шн\w+)?": 0,
    r"right now|at the moment|at present|praegu|hetkel|сеичас|в данныи момент": 0,
}

FROM = (
    r"from|since|starting(?: from| on)?|starts?(?: on)?|beginning|begins?(?: on)?|as of|after|between|"
    r"alates|alustades|vahemikus|ajavahemikus|algusega|с|со|от|начиная с|между"
)
TO = (
    r"to|until|till|til|through|thru|up to|by|before|ending(?: on)?|ends?(?: on)?|untill|"
    r"kuni|lopuga|до|по|к|заканчивая"
)
ON = r"on|for|at|in|during|of|в|во|на|за|ajal|kuupaeval"
BETWEEN = r"between|vahemikus|ajavahemikus|vahel|между"
AND = r"and|ja|ning|и"


def month_number(word: str) -> int:
    """Return 1…12 of a folded month word that MONTH has matched."""
    return next(i for i, pattern in enumerate(_MONTH_PATTERNS, start=1) if pattern.fullmatch(word))


def weekday_number(word: str) -> int:
    """Return 0 (Monday) … 6 of a folded weekday word that WEEKDAY has matched."""
    return next(i for i, pattern in enumerate(_WEEKDAY_PATTERNS) if pattern.fullmatch(word))
