from __future__ import annotations

import gzip

import pytest

from workers.calling.bodies import BodyUnreadable
from workers.calling.collecting import BodyCollector, BodyTooLarge


def collect(*chunks: bytes, length: str = "", encoding: str = "", max_bytes: int = 100) -> bytes:
    collector = BodyCollector(length=length, encoding=encoding, max_bytes=max_bytes)
    for chunk in chunks:
        collector.feed(chunk)
    return collector.finish()


def test_a_body_of_exactly_the_cap_passes_and_one_more_byte_does_not() -> None:
    assert collect(b"x" * 60, b"x" * 40) == b"x" * 100
    with pytest.raises(BodyTooLarge):
        collect(b"x" * 60, b"x" * 41)


def test_a_declared_length_beyond_the_cap_is_enough() -> None:
    with pytest.raises(BodyTooLarge):
        collect(length="101")


@pytest.mark.parametrize("length", ["-1", "abc", "", "1e9"])
def test_an_odd_length_is_ignored(length: str) -> None:
    assert collect(b"x", length=length) == b"x"


def test_a_bomb_is_cut_at_the_cap() -> None:
    with pytest.raises(BodyTooLarge):
        collect(gzip.compress(bytes(1_000_000)), encoding="gzip", max_bytes=10_000)


def test_gzip_arrives_whole_even_byte_by_byte() -> None:
    packed = gzip.compress(b"hello")

    assert collect(*(packed[i : i + 1] for i in range(len(packed))), encoding="GZIP ") == b"hello"


@pytest.mark.parametrize("packed", [gzip.compress(b"hello")[:-4], b"no gzip at all"], ids=["cut off", "nonsense"])
def test_broken_compression_is_told(packed: bytes) -> None:
    with pytest.raises(BodyUnreadable):
        collect(packed, encoding="gzip")


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_encoding_that_was_not_asked_for_is_told(encoding: str) -> None:
    with pytest.raises(BodyUnreadable):
        collect(b"x", encoding=encoding)


def test_nothing_compressed_is_nothing() -> None:
    assert collect(encoding="gzip") == b""
