"""Values of parameters that nobody named outright: by the words around them, and by what sort of thing is wanted."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.endpoints import Endpoint, ParamSpec
from tests.unit.workers.extraction.small_catalogue import HOLIDAYS, TAX, TRAINS, Talk, endpoint, heard


def _needs(name: str, type_: str, description: str = "", **more: Any) -> ParamSpec:
    return ParamSpec.model_validate({"name": name, "type": type_, "required": True, "description": description, **more})


LOAN = endpoint(
    "calculate_loan",
    _needs("principal", "number", "The amount of money that is lent"),
    _needs("annual_rate", "number", "Interest rate in decimal form, 5% is 0.05"),
    _needs("years", "integer", "How long the loan runs, in years"),
    description="What a loan costs",
)
CUBOID = endpoint(
    "cuboid_volume",
    _needs("length", "number"), _needs("width", "number"), _needs("height", "number"),
    description="Volume of a box",
)  # fmt: skip
GCD = endpoint(
    "common_divisor", _needs("num1", "integer"), _needs("num2", "integer"), description="Greatest common divisor"
)
TRIP = endpoint(
    "plan_trip",
    _needs("destination", "string", "Where the trip goes"),
    _needs("days", "integer", "Number of days of the trip"),
    ParamSpec(name="people", type="integer", description="How many people travel"),
    description="Plan a trip",
)
ROUTE = endpoint(
    "drive_route",
    _needs("start_location", "string"), _needs("end_location", "string"),
    ParamSpec(name="avoid_tolls", type="boolean"),
    description="Shortest way by car",
)  # fmt: skip
BOOK = endpoint(
    "find_book",
    _needs("title", "string", "Title of the book"),
    ParamSpec(name="author", type="string", description="Who wrote it"),
    description="Find a book in the library",
)
MATCH = endpoint("compare_teams", _needs("team1", "string"), _needs("team2", "string"), description="Compare two teams")
SUBSTANCE = endpoint(
    "boiling_point", _needs("substance", "string", "Name of the substance"), description="Boiling point of a substance"
)
TEMPERATURE = endpoint(
    "temperature",
    _needs("location", "string", "City, e.g. Tartu"),
    ParamSpec(name="unit", type="string", description="'Celsius' or 'Fahrenheit'; Celsius by default"),
    description="How warm it is",
)
CASES_FILED = endpoint(
    "court_cases",
    _needs("from_year", "integer"), _needs("to_year", "integer"),
    description="Court cases of some years",
)  # fmt: skip
BORN = endpoint("person_record", _needs("birth_date", "string", "Day of birth, as MM-DD-YYYY"), description="A record")
GROUPS = endpoint(
    "compare_groups",
    _needs("group1", "array", items={"name": "item", "type": "number"}),
    _needs("group2", "array", items={"name": "item", "type": "number"}),
    description="Compare two samples",
)
REGRESSION = endpoint(
    "fit_model",
    _needs("predictors", "array", items={"name": "item", "type": "string"}),
    _needs("target", "string", "Name of the target variable"),
    description="Fit a linear model",
)
LENGTHS = endpoint(
    "convert_length",
    _needs("value", "number"), _needs("from_unit", "string"), _needs("to_unit", "string"),
    description="Convert a length",
)  # fmt: skip
SLOPE = endpoint("derive", _needs("function", "string"), description="Derivative of a function")


@pytest.mark.parametrize(
    ("api", "message", "values"),
    [
        (LOAN, "What does a loan of $12,000 at an interest rate of 4% over 6 years cost?",
         {"principal": 12000, "annual_rate": 0.04, "years": 6}),
        (LOAN, "I borrow 9000 euros for 5 years with a 3.5% rate",
         {"principal": 9000, "annual_rate": pytest.approx(0.035), "years": 5}),
        (CUBOID, "length and width as 3 cm and 4 cm, and a height of 7", {"length": 3, "width": 4, "height": 7}),
        (GCD, "the greatest common divisor of 84 and 36", {"num1": 84, "num2": 36}),
        (TRIP, "Plan a trip to Lisbon for the next 5 days", {"destination": "Lisbon", "days": 5}),
        (TRIP, "a three days trip to Riga for 2 people", {"destination": "Riga", "days": 3, "people": 2}),
        (ROUTE, "the way from Kuressaare to Port Artur", {"start_location": "Kuressaare",
         "end_location": "Port Artur"}),
        (ROUTE, "between Narva and Haapsalu, tolls avoided",
         {"start_location": "Narva", "end_location": "Haapsalu", "avoid_tolls": True}),
        (BOOK, "Is 'Truth and Justice' by Anton Tammsaare there?",
         {"title": "Truth and Justice", "author": "Anton Tammsaare"}),
        (MATCH, "Compare Flora with Levadia", {"team1": "Flora", "team2": "Levadia"}),
        (SUBSTANCE, "What is the boiling point of methanol?", {"substance": "methanol"}),
        (TEMPERATURE, "How warm is it in San Marino, in Fahrenheit?", {"location": "San Marino", "unit": "Fahrenheit"}),
        (TEMPERATURE, "How warm is it in Boston, MA?", {"location": "Boston, MA"}),
        (CASES_FILED, "cases from 2011 to 2014", {"from_year": 2011, "to_year": 2014}),
        (BORN, "born on 24 February 1991", {"birth_date": "02-24-1991"}),
        (GROUPS, "compare [1, 2, 3] and [4.5, 6]", {"group1": [1, 2, 3], "group2": [4.5, 6]}),
        (REGRESSION, "predictors 'Height', 'Weight' and 'Shoe' for the target variable 'Age'",
         {"predictors": ["Height", "Weight", "Shoe"], "target": "Age"}),
        (LENGTHS, "12 from miles to kilometers", {"value": 12, "from_unit": "miles", "to_unit": "kilometers"}),
        (SLOPE, "the derivative of 4x^3 - 2x + 1", {"function": "4x^3 - 2x + 1"}),
    ],
)  # fmt: skip
def test_a_value_goes_to_the_parameter_that_the_words_around_it_speak_for(
    api: Endpoint, message: str, values: dict[str, object]
) -> None:
    assert heard(api, message) == values


@pytest.mark.parametrize(
    ("api", "message"),
    [
        (BOOK, "I would like to find a book in the library"),
        (BOOK, "Can you help me with the title of a book?"),
        (SUBSTANCE, "What is the boiling point of a substance?"),
        (SUBSTANCE, "Tell me about the boiling point"),
        (TRIP, "Plan a trip for me"),
        (MATCH, "Compare two teams"),
        (TEMPERATURE, "How warm is it in the city?"),
        (REGRESSION, "Fit a linear model for me please"),
        (LOAN, "What would a loan cost?"),
        (GCD, "the greatest common divisor of two numbers"),
    ],
)
def test_words_by_which_an_endpoint_describes_itself_are_no_values(api: Endpoint, message: str) -> None:
    assert heard(api, message) == {}


@pytest.mark.parametrize("message", ["not more than 100 euros", "no, not over 100 euros", "mitte rohkem kui 100 eurot"])
def test_a_limit_is_no_exclusion(message: str) -> None:
    budget = endpoint("find_flat", _needs("price", "number", "Highest price in euros"), description="Find a flat")

    assert heard(budget, message, "et" if "mitte" in message else "en") == {"price": 100}


def test_what_is_asked_for_later_is_not_guessed_from_common_nouns() -> None:
    talk = Talk(SUBSTANCE)
    talk.ask("I have a question on boiling points")
    talk.say("can you look it up for the teacher of my son?")

    assert talk.values() == {}


@pytest.mark.parametrize(
    ("api", "message", "language"),
    [
        (HOLIDAYS, "riigipühad 2 nädala pärast kolmele inimesele", "et"),
        (TAX, "палата 5 автомобиль", "ru"),
        (TRAINS, "two tickets for 3 people at 5", "en"),
    ],
)
def test_numbers_of_other_things_fill_nothing(api: Endpoint, message: str, language: str) -> None:
    values = heard(api, message, language)  # type: ignore[arg-type]

    assert not {"countryIsoCode", "regNr", "calculationYear", "from", "to"} & set(values)
