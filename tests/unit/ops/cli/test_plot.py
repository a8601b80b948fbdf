from __future__ import annotations

import struct
import zlib

import pytest

from ops.cli.plot import HEIGHT, WIDTH, plot


def pixels(png: bytes) -> bytes:
    """Decode an unfiltered 8-bit RGB PNG, checking each chunk's sum."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, body = 8, b""
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", png, at + 8 + length) == (zlib.crc32(kind + data),)
        body += data if kind == b"IDAT" else b""
        at += 12 + length
    rows = zlib.decompress(body)
    return b"".join(rows[start + 1 : start + 1 + 3 * WIDTH] for start in range(0, len(rows), 3 * WIDTH + 1))


def test_a_rising_line_runs_from_the_lower_left_to_the_upper_right() -> None:
    drawn = pixels(plot({"recall": [(0.0, 0.0), (1.0, 1.0)]}, {}, axis="evidence"))

    blue = [at for at in range(WIDTH * HEIGHT) if drawn[3 * at : 3 * at + 3] == bytes((31, 119, 180))]
    line = [(at % WIDTH, at // WIDTH) for at in blue if at // WIDTH > 40]
    left, right = min(line), max(line)

    assert len(drawn) == 3 * WIDTH * HEIGHT
    assert left[1] > HEIGHT - 60
    assert right[1] < 60
    assert right[0] - left[0] > WIDTH / 2


def test_a_mark_stands_upright_and_one_off_the_axis_is_left_out() -> None:
    lines = {"precision": [(0.0, 0.5), (1.0, 0.5)]}

    bare = plot(lines, {}, axis="x")

    assert plot(lines, {"match": 0.5}, axis="x") != bare
    assert plot(lines, {"match": 7.0}, axis="x") == bare


def test_a_single_place_can_be_drawn_and_none_cannot() -> None:
    assert plot({"a": [(0.3, 0.5), (0.3, 0.7)]}, {}, axis="x")
    with pytest.raises(ValueError, match="empty"):
        plot({}, {}, axis="x")
