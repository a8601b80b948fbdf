from __future__ import annotations

import pytest

from schemas.base import JsonValue
from workers.calling.bodies import read_body
from workers.calling.redacting import Redaction

SECRET = 'a"b/c+d'  # noqa: S105


@pytest.mark.parametrize(
    ("value", "blanked"),
    [
        (SECRET, "***"),
        (f"Bearer {SECRET}!", "Bearer ***!"),
        ("k=a%22b%2Fc%2Bd&x=1", "k=***&x=1"),
        ("Basic YSJiL2MrZA==", "Basic ***"),
        ({SECRET: [{"deep": SECRET}]}, {"***": [{"deep": "***"}]}),
        (["other", 1, None, True], ["other", 1, None, True]),
    ],
)
def test_a_secret_is_blanked_in_every_spelling_and_at_every_depth(value: JsonValue, blanked: JsonValue) -> None:
    assert Redaction(frozenset({SECRET})).value(value) == blanked


def test_a_secret_of_digits_is_blanked_where_it_is_sent_as_a_number_and_the_json_stays_json() -> None:
    assert read_body(b'{"pin": 12345678, "n": 1}', "application/json", secrets=frozenset({"12345678"})) == {
        "pin": "***",
        "n": 1,
    }


def test_a_secret_in_json_escapes_is_found() -> None:
    body = b'{"echo": "\\u0061\\"b\\/c+d"}'

    assert read_body(body, "application/json", secrets=frozenset({SECRET})) == {"echo": "***"}


def test_the_longer_of_two_secrets_goes_first_and_very_short_ones_are_none() -> None:
    assert Redaction(frozenset({"abcd", "abcdef", "x"})).text("abcdef x abcd") == "*** x ***"
