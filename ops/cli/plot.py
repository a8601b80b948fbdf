"""Draws lines over one axis as PNG with the standard library alone: a plotting library would weigh 30 MB."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from itertools import pairwise

WIDTH, HEIGHT = 800, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 20, 50, 50
_WHITE, _BLACK, _GREY = (255, 255, 255), (30, 30, 30), (215, 215, 215)
_COLOURS = ((31, 119, 180), (44, 160, 44), (214, 39, 40), (148, 103, 189))
_SCALE = 2
_TICKS = 5

Colour = tuple[int, int, int]
Points = Sequence[tuple[float, float]]

_DRAWN = (
    "A25755 B65656 C34443 D65556 E74647 F74644 G34553 H55755 I72227 J11152 K55655 L44447 M57755 N65555 O25552 P65644 "
    "Q25563 R65655 S34216 T72222 U55557 V55552 W55775 X55255 Y55222 Z71247 "
    "075557 126227 271747 371717 455711 574717 674757 771122 875757 975717 .00002 -00700"
)
_GLYPHS = {glyph[0]: glyph[1:] for glyph in _DRAWN.split()}
"""Five rows of three bits, as octal digits. Other signs are drawn as blanks."""


class _Canvas:
    """RGB pixels; what lies outside is not drawn."""

    def __init__(self) -> None:
        self._pixels = bytearray(bytes(_WHITE) * WIDTH * HEIGHT)

    def dot(self, x: int, y: int, colour: Colour, *, size: int = 1) -> None:
        for row in range(max(y, 0), min(y + size, HEIGHT)):
            for column in range(max(x, 0), min(x + size, WIDTH)):
                at = 3 * (row * WIDTH + column)
                self._pixels[at : at + 3] = bytes(colour)

    def line(self, start: tuple[int, int], end: tuple[int, int], colour: Colour, *, size: int = 1) -> None:
        steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
        for step in range(steps + 1):
            x = start[0] + round((end[0] - start[0]) * step / steps)
            y = start[1] + round((end[1] - start[1]) * step / steps)
            self.dot(x, y, colour, size=size)

    def text(self, x: int, y: int, words: str, colour: Colour = _BLACK) -> None:
        for place, sign in enumerate(words.upper()):
            for row, bits in enumerate(_GLYPHS.get(sign, "00000")):
                for column in range(3):
                    if int(bits) & (4 >> column):
                        left = x + (4 * place + column) * _SCALE
                        self.dot(left, y + row * _SCALE, colour, size=_SCALE)

    def png(self) -> bytes:
        """Encode as PNG. Source: Portable Network Graphics Specification, W3C, 2003 (8-bit RGB, no filter)."""
        rows = (self._pixels[at : at + 3 * WIDTH] for at in range(0, len(self._pixels), 3 * WIDTH))
        header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
        body = zlib.compress(b"".join(b"\0" + row for row in rows))
        return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def plot(lines: Mapping[str, Points], marks: Mapping[str, float], *, axis: str) -> bytes:
    """Draw lines of shares (0…1) over a common axis, and upright marks on it; return the PNG.

    Raises ValueError when there is no point at all.
    """
    places = [x for points in lines.values() for x, _ in points]
    low, high = min(places), max(places)
    canvas = _Canvas()

    def at(x: float, y: float) -> tuple[int, int]:
        across = (x - low) / ((high - low) or 1.0)
        return (
            _LEFT + round(across * (WIDTH - _LEFT - _RIGHT)),
            HEIGHT - _BOTTOM - round(y * (HEIGHT - _TOP - _BOTTOM)),
        )

    for tick in range(_TICKS + 1):
        share, place = tick / _TICKS, low + (high - low) * tick / _TICKS
        canvas.line(at(low, share), at(high, share), _GREY)
        canvas.text(_LEFT - 45, at(low, share)[1] - 5, f"{share:.2f}")
        canvas.text(at(place, 0)[0] - 20, HEIGHT - _BOTTOM + 10, f"{place:.2f}")
    canvas.text(WIDTH // 2 - 4 * _SCALE * len(axis) // 2, HEIGHT - 18, axis)
    for name, place in marks.items():
        if low <= place <= high:
            canvas.line(at(place, 0), at(place, 1), _BLACK)
            canvas.text(at(place, 1)[0] + 4, _TOP - 14, name)
    for number, (name, points) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        for start, end in pairwise(points):
            canvas.line(at(*start), at(*end), colour, size=3)
        canvas.text(_LEFT + number * 240, 12, name, colour)
    return canvas.png()
