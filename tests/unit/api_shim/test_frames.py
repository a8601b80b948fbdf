"""The rules that turn events into what a client shows."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api_shim import sse
from api_shim.frames import FrameWriter, Shown, View
from schemas.events import AnswerCompleted, SlotAsked, TokenDelta, TurnCancelled, TurnEvent
from schemas.routing import Choice, Layer


def token(text: str, *, attempt: int = 1, index: int = 0) -> TokenDelta:
    return TokenDelta(attempt=attempt, index=index, text=text)


def tokens(*pieces: str, attempt: int = 1) -> list[TokenDelta]:
    return [token(piece, attempt=attempt, index=index) for index, piece in enumerate(pieces)]


def completed(text: str, *choices: Choice) -> AnswerCompleted:
    return AnswerCompleted(attempt=9, text=text, layer=Layer.RAG, choices=choices)


def parse(data: bytes) -> list[tuple[str, dict[str, object]]]:
    events = []
    for block in data.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        events.append((fields.get("event", "message"), json.loads(fields["data"])))
    return events


def shown_by(events: list[TurnEvent], *, rich: bool = False) -> str:
    """What a reader of that kind has before it when the stream has ended."""
    writer = FrameWriter("c", rich=rich)
    text = ""
    for number, event in enumerate(events, 1):
        for name, data in parse(writer.write(f"{number}-0", event, now_ms=1)):
            if name == "replace":
                text = str(data["content"])
            elif name == "message":
                content = str(data["payload"]["content"])  # type: ignore[index]
                text += content if content != "END" else ""
    return text


def test_a_retried_attempt_is_not_repeated_whatever_its_pieces() -> None:
    events = [
        *tokens("The tax ", "is ", attempt=1),
        *tokens("Th", "e tax is 9", " €", attempt=2),
        completed("The tax is 9 €."),
    ]

    assert shown_by(events) == "The tax is 9 €."


def test_a_plain_reader_gets_a_differing_text_after_a_blank_line_from_the_line_of_parting() -> None:
    events = [*tokens("Holidays:\n- 24 February\n- 14 A"), completed("Holidays:\n- 24 February\n- 3 April")]

    assert shown_by(events) == "Holidays:\n- 24 February\n- 14 A\n\n- 3 April"


def test_a_rich_reader_gets_a_differing_text_in_place_of_the_old_one() -> None:
    assert shown_by([*tokens("I think so"), completed("I know so")], rich=True) == "I know so"


def test_a_shorter_final_text_replaces_a_longer_one() -> None:
    assert shown_by([*tokens("Hello there"), completed("Hello")], rich=True) == "Hello"


def test_tokens_of_an_older_attempt_are_dropped() -> None:
    events = [*tokens("new", attempt=2), token("old", attempt=1), completed("new")]

    assert shown_by(events) == "new"


def test_a_token_that_comes_twice_is_shown_once() -> None:
    assert shown_by([token("a"), token("a"), token("b", index=1), completed("ab")]) == "ab"


def test_after_a_missing_token_the_rest_waits_for_the_whole_text() -> None:
    view = View()
    assert view.token(token("a")) == Shown("a")
    assert view.token(token("c", index=2)) == Shown()
    assert view.token(token("d", index=3)) == Shown()
    assert view.whole("abcd") == Shown("bcd")


def test_buttons_go_on_the_last_content_frame_even_when_all_was_said_before() -> None:
    writer = FrameWriter("c", rich=False)
    writer.write("1-0", token("Which?"), now_ms=1)

    frames = parse(writer.write("2-0", completed("Which?", Choice(title="A", payload="a")), now_ms=1))

    assert [data["payload"] for _, data in frames] == [
        {"content": "", "buttons": [{"title": "A", "payload": "a"}]},
        {"content": "END"},
    ]


def test_a_cancelled_turn_just_ends() -> None:
    assert parse(FrameWriter("c", rich=False).write("1-0", TurnCancelled(), now_ms=1))[0][1]["payload"] == {
        "content": "END"
    }


def test_a_question_is_named_for_rich_readers_only() -> None:
    asked = SlotAsked(attempt=1, text="Which?", missing=("country",))

    rich = parse(FrameWriter("c", rich=True).write("1-0", asked, now_ms=1))
    plain = parse(FrameWriter("c", rich=False).write("1-0", asked, now_ms=1))

    assert [name for name, _ in rich] == ["question", "message", "message"]
    no_costs = {"calls": 0, "tokens": 0, "usd": 0.0, "judgements": {}}
    assert rich[0][1] == {"text": "Which?", "missing": ["country"], "costs": no_costs}
    assert [name for name, _ in plain] == ["message", "message"]


PIECES = st.lists(st.text(st.sampled_from("ab\n \u2028é🙂"), max_size=3), max_size=5)


@given(attempts=st.lists(PIECES, max_size=4), text=st.text("ab\n é🙂", max_size=8))
def test_a_rich_reader_ends_with_the_final_text_whatever_came_before(attempts: list[list[str]], text: str) -> None:
    said = [tokens(*pieces, attempt=number) for number, pieces in enumerate(attempts)]

    assert shown_by([*itertools.chain(*said), completed(text)], rich=True) == text


@given(pieces=PIECES, cuts=st.lists(st.integers(0, 4), max_size=3), rest=st.text("ab\n", max_size=4))
def test_attempts_that_begin_the_same_concatenate_exactly(pieces: list[str], cuts: list[int], rest: str) -> None:
    said = [tokens(*pieces[:cut], attempt=number) for number, cut in enumerate([*cuts, len(pieces)])]

    assert shown_by([*itertools.chain(*said), completed("".join(pieces) + rest)]) == "".join(pieces) + rest


@given(attempts=st.lists(PIECES, max_size=4), cut=st.integers(0, 20), rich=st.booleans())
def test_resuming_anywhere_sends_what_an_unbroken_stream_would_have_sent(
    attempts: list[list[str]], cut: int, *, rich: bool
) -> None:
    said = [tokens(*pieces, attempt=number) for number, pieces in enumerate(attempts)]
    events: list[TurnEvent] = [*itertools.chain(*said), completed("ab")]
    unbroken = FrameWriter("c", rich=rich)
    whole = [unbroken.write(f"{n}-0", event, now_ms=1) for n, event in enumerate(events)]

    resumed = FrameWriter("c", rich=rich)
    for event in events[:cut]:
        resumed.skip(event)
    rest = [resumed.write(f"{n}-0", event, now_ms=1) for n, event in enumerate(events[cut:], cut)]

    assert rest == whole[cut:]


@given(st.text())
def test_json_comes_back_and_stays_on_one_line(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    written = sse.one_line_json({"content": text})

    assert json.loads(written) == {"content": text}
    assert len(written.decode().splitlines()) == 1


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\r", "\n", "\x0b", "\x0c", "\x1c"])
def test_no_line_mark_is_written_raw(mark: str) -> None:
    assert mark not in sse.one_line_json(f"a{mark}b").decode()
