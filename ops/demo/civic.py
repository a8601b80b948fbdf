"""Parliament votings, the business register, currency rates, and the public library."""

from __future__ import annotations

from datetime import date, timedelta
from math import pi, sin

from ops.demo.dice import Dice
from ops.demo.requests import Given, Refused
from ops.demo.tables import table
from schemas.base import JsonValue

SEATS = 101
LATEST_VOTINGS = 10
_LONGEST_PERIOD_DAYS = 366
_MOST_AMOUNT = 1e9
CARD = r"\d{8,10}"
_CARD_HINT = "The card number has eight to ten digits."
RENEWAL_DAYS, RENEWALS = 21, 2
_PLENARY_WEEKDAYS = (0, 1, 2, 3)
_RECESS_MONTHS = (7, 8)


def votings(given: Given) -> JsonValue:
    """GET /parliament/votings: final votings of a period, the newest first; without a period the latest ten."""
    end = given.day("endDate", default=given.today)
    start = given.day("startDate", default=end - timedelta(days=60))
    if end < start:
        given.fault("endDate", "The endDate must not be before the startDate.")
    elif (end - start).days > _LONGEST_PERIOD_DAYS:
        given.fault("endDate", "The period must not be longer than a year.")
    given.check()
    end = min(end, given.today)
    days = [end - timedelta(days=back) for back in range((end - start).days + 1)]
    found = [voting for day in days for voting in _of_day(day)]
    shown = found if given.has("startDate") else found[:LATEST_VOTINGS]
    return {"votings": [dict(voting) for voting in shown], "total": len(shown)}


def _of_day(day: date) -> list[dict[str, JsonValue]]:
    dice = Dice("plenary", day)
    if day.weekday() not in _PLENARY_WEEKDAYS or day.month in _RECESS_MONTHS or dice.share() > 0.45:  # noqa: PLR2004
        return []
    bills = dice.some(table("civic")["bills"], dice.between(1, 2))
    return [_voting(day, bill, dice) for bill in bills]


def _voting(day: date, bill: dict[str, str], dice: Dice) -> dict[str, JsonValue]:
    absent = dice.between(6, 22)
    present = SEATS - absent
    in_favour = round(present * (0.42 + 0.4 * dice.share()))
    abstained = min(present - in_favour, dice.between(0, 4))
    against = present - in_favour - abstained
    return {
        "date": day.isoformat(),
        "bill": f"{dice.between(480, 790)} SE",
        "title": [{"language": language.upper(), "text": name} for language, name in bill.items()],
        "result": "adopted" if in_favour > against else "rejected",
        "inFavour": in_favour,
        "against": against,
        "abstained": abstained,
        "absent": absent,
    }


def companies(given: Given) -> JsonValue:
    """GET /companies: by the eight digits of the registry code, or by a part of the name."""
    query = given.text("query")
    if query.isdecimal() and len(query) != len("14523876"):
        given.fault("query", "A registry code has eight digits.")
    given.check()
    wanted = query.casefold()
    found = [
        {
            "name": name,
            "registryCode": code,
            "legalForm": name.rsplit(" ", 1)[-1],
            "status": "registered",
            "founded": date(founded, 1 + int(code[-1]), 1 + int(code[-2]) * 3).isoformat(),
            "address": f"{street}, {town}",
            "activity": activity,
            "vatNumber": f"EE{Dice('vat', code).between(100_000_000, 102_999_999)}",
        }
        for name, code, founded, town, street, activity in table("civic")["companies"]
        if wanted in name.casefold() or wanted == code
    ]
    return {"companies": [dict(company) for company in found], "total": len(found)}


def _per_euro(currency: str, day: date) -> float:
    """The rate of a day: its level, swung by a few slow waves."""
    level = float(table("civic")["rates"][currency])
    if currency in ("EUR", "DKK"):
        return level
    phase = Dice("rate", currency).share() * 2 * pi
    days = day.toordinal()
    return level * (1 + 0.018 * sin(days / 97 + phase) + 0.006 * sin(days / 11 + 2 * phase))


def convert(given: Given) -> JsonValue:
    """GET /currency/convert: an amount at the rate of a day, today's without one."""
    rates = table("civic")["rates"]
    amount = given.amount("amount", most=_MOST_AMOUNT)
    source, target = given.choice("fromCurrency", rates), given.choice("toCurrency", rates)
    day = given.day("date", default=given.today)
    if day > given.today:
        given.fault("date", "There are no rates for days to come.")
    given.check()
    rate = round(_per_euro(target, day) / _per_euro(source, day), 5)
    return {
        "amount": amount,
        "fromCurrency": source,
        "toCurrency": target,
        "rate": rate,
        "result": round(amount * rate, 2),
        "date": day.isoformat(),
    }


class Library:
    """Loans by card number; what was renewed since the start is remembered, for a bounded number of loans."""

    def __init__(self, *, most_remembered: int = 10_000) -> None:
        self._renewed: dict[str, int] = {}
        self._most = most_remembered

    def loans(self, given: Given) -> JsonValue:
        """GET /library/loans: what is out on a card."""
        card = given.text("cardNumber", pattern=CARD, hint=_CARD_HINT)
        given.check()
        return {"cardNumber": card, "loans": [dict(loan) for loan in self._loans(card, given.today)]}

    def renew(self, given: Given) -> JsonValue:
        """POST /library/renewals: prolong every loan of a card, or the one named, by three weeks."""
        card = given.text("cardNumber", pattern=CARD, hint=_CARD_HINT)
        given.check()
        wanted = str(given.text("title") if given.has("title") else "").casefold()
        loans = [loan for loan in self._loans(card, given.today) if wanted in str(loan["title"]).casefold()]
        if not loans:
            raise Refused([("title" if wanted else "cardNumber", "There is no such loan on this card.")], status=404)
        able = [loan for loan in loans if int(str(loan["renewalsLeft"])) > 0]
        if not able:
            raise Refused([("cardNumber", "These loans have already been renewed twice.")], status=409)
        for loan in able:
            self._remember(str(loan["loanId"]))
        ids = {loan["loanId"] for loan in able}
        renewed = [dict(loan) for loan in self._loans(card, given.today) if loan["loanId"] in ids]
        return {"cardNumber": card, "renewed": [dict(loan) for loan in renewed], "refused": len(loans) - len(able)}

    def _remember(self, loan_id: str) -> None:
        if len(self._renewed) >= self._most:
            self._renewed.pop(next(iter(self._renewed)))
        self._renewed[loan_id] = self._renewed.get(loan_id, 0) + 1

    def _loans(self, card: str, today: date) -> list[dict[str, JsonValue]]:
        dice = Dice("card", card)
        return [self._loan(card, book, today) for book in dice.some(table("civic")["books"], dice.between(1, 4))]

    def _loan(self, card: str, book: list[str], today: date) -> dict[str, JsonValue]:
        title, author = book
        dice = Dice("loan", card, title)
        loan_id = f"L{dice.between(100_000, 999_999)}"
        renewed = self._renewed.get(loan_id, 0)
        due = today + timedelta(days=dice.between(2, 20) + RENEWAL_DAYS * renewed)
        return {
            "loanId": loan_id,
            "title": title,
            "author": author,
            "dueDate": due.isoformat(),
            "renewalsLeft": max(0, RENEWALS - renewed),
        }
