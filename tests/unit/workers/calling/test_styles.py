"""The examples of OpenAPI 3.1.1, "Style Examples", for color = blue,black,brown and R,G,B = 100,200,150."""

from __future__ import annotations

import pytest

from schemas.base import JsonValue
from schemas.endpoints import Style
from workers.calling.prepared import CannotPlace, Pairs
from workers.calling.styles import Placed, header_text, pairs, path_text

ARRAY: JsonValue = ["blue", "black", "brown"]
OBJECT: JsonValue = {"R": 100, "G": 200, "B": 150}


@pytest.mark.parametrize(
    ("style", "explode", "value", "text"),
    [
        ("simple", False, ARRAY, "blue,black,brown"),
        ("simple", False, OBJECT, "R,100,G,200,B,150"),
        ("simple", True, OBJECT, "R=100,G=200,B=150"),
        ("label", False, ARRAY, ".blue,black,brown"),
        ("label", True, ARRAY, ".blue.black.brown"),
        ("label", False, OBJECT, ".R,100,G,200,B,150"),
        ("label", True, OBJECT, ".R=100.G=200.B=150"),
        ("matrix", False, ARRAY, ";color=blue,black,brown"),
        ("matrix", True, ARRAY, ";color=blue;color=black;color=brown"),
        ("matrix", False, OBJECT, ";color=R,100,G,200,B,150"),
        ("matrix", True, OBJECT, ";R=100;G=200;B=150"),
        ("matrix", False, "blue", ";color=blue"),
        ("label", False, "a/b", ".a%2Fb"),
    ],
)
def test_a_path_is_written_as_openapi_says(style: Style, explode: bool, value: JsonValue, text: str) -> None:  # noqa: FBT001
    assert path_text(Placed(name="color", value=value, style=style, explode=explode)) == text


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("form", True, ARRAY, (("color", "blue"), ("color", "black"), ("color", "brown"))),
        ("form", None, OBJECT, (("R", "100"), ("G", "200"), ("B", "150"))),
        ("form", False, ARRAY, (("color", "blue,black,brown"),)),
        ("form", False, OBJECT, (("color", "R,100,G,200,B,150"),)),
        ("spaceDelimited", False, ARRAY, (("color", "blue black brown"),)),
        ("pipeDelimited", None, ARRAY, (("color", "blue|black|brown"),)),
        ("deepObject", True, OBJECT, (("color[R]", "100"), ("color[G]", "200"), ("color[B]", "150"))),
        (None, False, ARRAY, (("color", "blue,black,brown"),)),
        (None, None, OBJECT, (("color", '{"R":100,"G":200,"B":150}'),)),
        ("form", True, [], ()),
        ("form", True, [None, 1], (("color", "1"),)),
    ],
)
def test_a_query_is_written_as_openapi_says(
    style: Style | None,
    explode: bool | None,  # noqa: FBT001
    value: JsonValue,
    expected: Pairs,
) -> None:
    assert pairs(Placed(name="color", value=value, style=style, explode=explode)) == expected


def test_a_header_is_simple_and_may_explode() -> None:
    assert header_text(Placed(name="X", value=OBJECT, explode=True)) == "R=100,G=200,B=150"
    assert header_text(Placed(name="X", value=ARRAY, style="simple")) == "blue,black,brown"


@pytest.mark.parametrize(
    ("style", "explode", "value"),
    [("label", True, ["", ""]), ("simple", False, {}), ("label", False, {}), ("simple", True, ["..", "/.."])],
)
def test_no_style_writes_a_dot_segment_or_nothing(style: Style, explode: bool, value: JsonValue) -> None:  # noqa: FBT001
    with pytest.raises(CannotPlace):
        path_text(Placed(name="color", value=value, style=style, explode=explode))
