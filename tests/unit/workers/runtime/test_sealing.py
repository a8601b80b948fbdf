from __future__ import annotations

import base64

import pytest
from pydantic import SecretStr

from workers.runtime.sealing import Sealer

KEY = SecretStr("a key of the operator's, 32 characters")
TOKEN = SecretStr("eyJhbGciOiJub25lIn0.persons-own")


def test_what_was_sealed_is_opened_by_another_process_of_the_same_key() -> None:
    opened = Sealer(KEY).open(Sealer(KEY).seal(TOKEN, owner="turn-1"), owner="turn-1")

    assert opened == TOKEN


def test_a_sealed_token_shows_nothing_not_even_that_it_is_the_same_again() -> None:
    sealer = Sealer(KEY)
    first, second = sealer.seal(TOKEN, owner="turn-1"), sealer.seal(TOKEN, owner="turn-1")

    assert first != second
    assert TOKEN.get_secret_value().encode() not in base64.b64decode(first)


@pytest.mark.parametrize("place", [0, 15, -1])
def test_a_sealed_token_that_was_changed_is_not_opened(place: int) -> None:
    raw = bytearray(base64.b64decode(Sealer(KEY).seal(TOKEN, owner="turn-1")))
    raw[place] ^= 1

    assert Sealer(KEY).open(base64.b64encode(raw).decode(), owner="turn-1") is None


def test_another_turn_and_another_key_open_nothing() -> None:
    sealed = Sealer(KEY).seal(TOKEN, owner="turn-1")

    assert Sealer(KEY).open(sealed, owner="turn-2") is None
    assert Sealer(SecretStr("another key of the operator's, 32 c")).open(sealed, owner="turn-1") is None


@pytest.mark.parametrize("sealed", ["", "AAAA", "no base64!"])
def test_what_is_no_sealed_token_is_not_opened(sealed: str) -> None:
    assert Sealer(KEY).open(sealed, owner="turn-1") is None


def test_a_name_is_the_same_each_time_and_another_for_another_token_or_key() -> None:
    name = Sealer(KEY).name(TOKEN)

    assert name == Sealer(KEY).name(TOKEN)
    assert len({name, Sealer(KEY).name(SecretStr("x")), Sealer(SecretStr("another key" * 3)).name(TOKEN)}) == 3
