"""Which parameter the words of one message are for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schemas.endpoints import Endpoint, EnumOption, Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import (
    ADDRESS,
    CURRENCY,
    HOLIDAYS,
    NOW,
    PARKING,
    PRICES,
    TAX,
    TRAINS,
    VOTINGS,
    WEATHER,
    Talk,
    endpoint,
    heard,
)


@pytest.mark.parametrize(
    ("api", "message", "language", "values"),
    [
        (TAX, "Calculate vehicle tax for 123ABC for 2026", "en", {"regNr": "123ABC", "calculationYear": 2026}),
        (TAX, "car tax 123 abc this year", "en", {"regNr": "123 abc", "calculationYear": 2026}),
        (TAX, "Tax for 2026, my plate is 123 abc", "en", {"regNr": "123 abc", "calculationYear": 2026}),
        (TAX, "Automaks, numbrimärk 456 DEF, 2027. aasta", "et", {"regNr": "456 DEF", "calculationYear": 2027}),
        (TAX, "налог на машину 123ABC в этом году", "ru", {"regNr": "123ABC", "calculationYear": 2026}),
        (TAX, "tax of 123ABC for 2026 with the registration fee", "en",
         {"regNr": "123ABC", "calculationYear": 2026, "showRegFee": True}),
        (TAX, "tax of 123ABC for 2026 without the registration fee", "en",
         {"regNr": "123ABC", "calculationYear": 2026, "showRegFee": False}),
        (HOLIDAYS, "public holidays in Estonia", "en", {"countryIsoCode": "EE"}),
        (HOLIDAYS, "riigipühad Lätis sel aastal", "et",
         {"countryIsoCode": "LV", "validFrom": "2026-01-01", "validTo": "2026-12-31"}),
        (HOLIDAYS, "праздники в Финляндии с 1 по 31 мая", "ru",
         {"countryIsoCode": "FI", "validFrom": "2027-05-01", "validTo": "2027-05-31"}),
        (HOLIDAYS, "Is 24 February a day off in Estonia?", "en",
         {"countryIsoCode": "EE", "validFrom": "2027-02-24", "validTo": "2027-02-24"}),
        (HOLIDAYS, "Kas 24. veebruar on Eestis püha?", "et",
         {"countryIsoCode": "EE", "validFrom": "2027-02-24", "validTo": "2027-02-24"}),
        (HOLIDAYS, "24 февраля в Эстонии – это праздник?", "ru", {"countryIsoCode": "EE", "validFrom": "2027-02-24"}),
        (HOLIDAYS, "Millal on Eestis pühad 2026. aastal?", "et",
         {"countryIsoCode": "EE", "validFrom": "2026-01-01", "validTo": "2026-12-31"}),
        (HOLIDAYS, "holidays in EE in English from 1 May 2026", "en",
         {"countryIsoCode": "EE", "languageIsoCode": "EN", "validFrom": "2026-05-01"}),
        (TRAINS, "Trains from Tartu to Valga next Friday", "en",
         {"from": "Tartu", "to": "Valga", "date": "2026-12-11"}),
        (TRAINS, "Trains to Valga from Tartu tomorrow", "en", {"from": "Tartu", "to": "Valga", "date": "2026-12-02"}),
        (TRAINS, "Millal läheb homme rong Tallinnast Tartusse?", "et",
         {"from": "Tallinn", "to": "Tartu", "date": "2026-12-02"}),
        (TRAINS, "rong Tartust Tallinna reedel", "et", {"from": "Tartu", "to": "Tallinn", "date": "2026-12-04"}),
        (TRAINS, "поезд из Таллина в Нарву завтра", "ru", {"from": "Tallinn", "to": "Narva", "date": "2026-12-02"}),
        (TRAINS, "Tallinn–Pärnu homme", "et", {"from": "Tallinn", "to": "Pärnu", "date": "2026-12-02"}),
        (CURRENCY, "Convert 100 euros to Swedish krona", "en",
         {"amount": 100, "fromCurrency": "EUR", "toCurrency": "SEK"}),
        (CURRENCY, "convert fifty pounds to euros", "en",
         {"amount": 50, "fromCurrency": "GBP", "toCurrency": "EUR"}),
        (CURRENCY, "kui palju on sada eurot dollarites", "et",
         {"amount": 100, "fromCurrency": "EUR", "toCurrency": "USD"}),
        (CURRENCY, "сколько будет двадцать пять евро в долларах", "ru",
         {"amount": 25, "fromCurrency": "EUR", "toCurrency": "USD"}),
        (CURRENCY, "Kui palju on 250,50 eurot dollarites?", "et",
         {"amount": 250.5, "fromCurrency": "EUR", "toCurrency": "USD"}),
        (CURRENCY, "1 234,56 евро в шведских кронах", "ru",
         {"amount": 1234.56, "fromCurrency": "EUR", "toCurrency": "SEK"}),
        (WEATHER, "Will it rain in Pärnu tomorrow?", "en", {"city": "Pärnu", "date": "2026-12-02"}),
        (WEATHER, "Kas Viljandis sajab ülehomme?", "et", {"city": "Viljandi", "date": "2026-12-03"}),
        (WEATHER, "погода в Тарту", "ru", {"city": "Tartu"}),
        (ADDRESS, "Otsi aadressi Viru tn 4, Tallinn", "et", {"address": "Viru tn 4, Tallinn"}),
        (ADDRESS, "I need to search for an address in Tallinn", "en", {}),
        (PARKING, "a permit for the old town", "en", {"zone": "OLD_TOWN"}),
        (PARKING, "parkimisluba vanalinnas", "et", {"zone": "OLD_TOWN"}),
        (PARKING, "разрешение для старого города", "ru", {"zone": "OLD_TOWN"}),
        (PARKING, "permit at the PORT", "en", {"zone": "HARBOUR"}),
        (VOTINGS, "latest votings", "en", {}),
        (VOTINGS, "How did they vote last month? What was adopted?", "en",
         {"startDate": "2026-11-01", "endDate": "2026-11-30"}),
    ],
)  # fmt: skip
def test_a_first_message_says_what_it_says(
    api: Endpoint, message: str, language: Language, values: dict[str, object]
) -> None:
    assert heard(api, message, language) == values


@pytest.mark.parametrize(
    ("api", "message"),
    [
        (HOLIDAYS, "I want to subscribe"),
        (TAX, "How much is the car tax?"),
        (CURRENCY, "currency please"),
        (TRAINS, "train"),
        (ADDRESS, "Can you find an address for me?"),
    ],
)
def test_nothing_is_filled_that_was_not_said(api: Endpoint, message: str) -> None:
    assert heard(api, message) == {}


@pytest.mark.parametrize(
    ("message", "language", "country"),
    [
        ("not Estonia, Latvia", "en", "LV"),
        ("holidays anywhere except Estonia", "en", None),
        ("Finland instead of Estonia", "en", "FI"),
        ("mitte Eesti, vaid Soome", "et", "FI"),
        ("Eesti asemel Läti", "et", "LV"),
        ("не Эстония, а Латвия", "ru", "LV"),
        ("кроме Эстонии", "ru", None),
    ],
)
def test_what_is_not_wanted_fills_nothing(message: str, language: Language, country: str | None) -> None:
    assert heard(HOLIDAYS, message, language).get("countryIsoCode") == country


ID = endpoint("get_loan", ParamSpec(name="cardNumber", required=True))


@pytest.mark.parametrize("written", ["05467", "007", "12345678901234567890", "AB-0012/7", "x0Y9"])
def test_an_identifier_is_kept_byte_by_byte(written: str) -> None:
    assert heard(ID, f"my card number is {written}") == {"cardNumber": written}


FORMS = endpoint(
    "register",
    ParamSpec(name="email", required=True),
    ParamSpec(name="phone"),
    ParamSpec(name="iban"),
    ParamSpec(name="age", type="integer"),
)


def test_forms_of_their_own_are_found_in_running_text() -> None:
    message = "I'm 34 years old, mari.maasikas@example.ee, phone +372 5123 4567, account EE38 2200 2210 2014 5685"

    assert heard(FORMS, message) == {
        "email": "mari.maasikas@example.ee",
        "phone": "+372 5123 4567",
        "iban": "EE382200221020145685",
        "age": 34,
    }


def test_an_iban_with_wrong_check_digits_is_none() -> None:
    assert "iban" not in heard(FORMS, "my IBAN is EE39 2200 2210 2014 5685")


def test_a_bare_date_fills_whole_days_of_moments_in_the_chats_zone() -> None:
    values = heard(PRICES, "prices from 12.05.2026 to 13.05.2026", "et")

    assert values == {"start": "2026-05-11T21:00:00Z", "end": "2026-05-13T20:59:59Z"}


def test_moments_with_an_offset_keep_it() -> None:
    values = heard(PRICES, "2026-05-12T00:00:00Z to 2026-05-12T23:59:59+03:00")

    assert values == {"start": "2026-05-12T00:00:00Z", "end": "2026-05-12T20:59:59Z"}


def test_an_endpoint_that_counts_days_in_utc_says_so_in_its_description() -> None:
    told = "If only a date is given, use T00:00:00Z"
    api = endpoint(
        "prices",
        ParamSpec(name="start", type="datetime", required=True, description=told),
        ParamSpec(name="end", type="datetime", required=True, description=told),
    )

    assert heard(api, "tomorrow") == {"start": "2026-12-02T00:00:00Z", "end": "2026-12-02T23:59:59Z"}


def test_today_is_the_chats_day_not_the_servers() -> None:
    late = datetime(2026, 12, 1, 23, 30, tzinfo=UTC).astimezone(NOW.tzinfo)

    assert heard(WEATHER, "Tartu täna", "et", now=late)["date"] == "2026-12-02"


def test_words_about_one_endpoint_do_not_fill_another() -> None:
    talk = Talk(HOLIDAYS, PRICES)

    talk.say("public holidays in Estonia this year and the electricity prices for this week")

    assert talk.values(0) == {"countryIsoCode": "EE", "validFrom": "2026-01-01", "validTo": "2026-12-31"}
    assert talk.values(1) == {"start": "2026-11-29T22:00:00Z", "end": "2026-12-06T21:59:59Z"}


STATISTICS = endpoint(
    "get_statistics", ParamSpec(name="query", type="object", required=True, description="The query body")
)
PAGES = endpoint("get_initiatives", ParamSpec(name="page", type="integer"))
TOWNS = endpoint(
    "compare_towns", ParamSpec(name="cities", type="array", required=True, items=ParamSpec(name="item")), title="towns"
)
SIZES = endpoint(
    "order",
    ParamSpec(name="sizes", type="array", required=True, enum=(EnumOption(value="small"), EnumOption(value="large"))),
)


def test_an_object_comes_from_json_only() -> None:
    assert heard(STATISTICS, 'use {"query": [1]} please') == {"query": {"query": [1]}}
    assert heard(STATISTICS, "the query is population") == {}
    assert heard(STATISTICS, '{"query": NaN}') == {}


def test_an_optional_number_is_taken_when_it_is_named_and_only_then() -> None:
    assert heard(PAGES, "initiatives page 3") == {"page": 3}
    assert heard(PAGES, "show me 3 initiatives") == {}


def test_a_list_takes_all_that_was_named() -> None:
    assert heard(TOWNS, "võrdle: Tallinn ja Tartu", "et") == {"cities": ["Tallinn", "Tartu"]}
    assert heard(SIZES, "small and large") == {"sizes": ["small", "large"]}


NAMED = endpoint(
    "lookup_company", ParamSpec(name="query", required=True, labels={"en": "company name", "et": "ettevõtte nimi"})
)


@pytest.mark.parametrize(
    ("message", "language", "query"),
    [
        ("Look up the company Tammepuu Ehitus", "en", "Tammepuu Ehitus"),
        ("Otsi ettevõtet Tammepuu Ehitus OÜ", "et", "Tammepuu Ehitus OÜ"),
        ('find "Meretuul Energia"', "en", "Meretuul Energia"),
        ("company name: Meretuul Energia", "en", "Meretuul Energia"),
        ("find a company", "en", None),
    ],
)
def test_free_text_on_a_first_message_must_be_named_or_quoted(message: str, language: Language, query: str) -> None:
    assert heard(NAMED, message, language).get("query") == query


SCORES = endpoint(
    "mean", ParamSpec(name="scores", type="array", required=True, items=ParamSpec(name="item", type="number"))
)
MESSAGE = endpoint("send", ParamSpec(name="subject", required=True), ParamSpec(name="body", required=True))
LOAN = endpoint(
    "loan",
    ParamSpec(name="interestRate", type="number", required=True),
    ParamSpec(name="discount", type="number", description="Discount in percent"),
)


def test_a_list_of_numbers_is_the_run_after_its_name() -> None:
    assert heard(SCORES, "the scores 85, 90 and 88 in a range of 5") == {"scores": [85, 90, 88]}
    assert heard(SCORES, "scores=[3,4,5]") == {"scores": [3, 4, 5]}
    assert heard(SCORES, "between 3 and 4, or 17") == {}


def test_several_quoted_texts_go_by_the_names_before_them() -> None:
    message = "Send it with the subject 'Meeting' and the body 'Let's meet tomorrow at noon'"

    assert heard(MESSAGE, message) == {"subject": "Meeting", "body": "Let's meet tomorrow at noon"}


def test_a_percentage_is_a_fraction_unless_percent_is_what_is_wanted() -> None:
    assert heard(LOAN, "interest rate 5% and discount 3%") == {"interestRate": 0.05, "discount": 3}
