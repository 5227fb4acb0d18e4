"""What was said, for a client that was not there: in pages, for the user alone."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rpc.page import Lines, SpokenLine
from rpc.page.lines import LONGEST_LINE, MOST_LINES
from tests.rpc.page.workshop import MANAGER, MECHANIC, Workshop

LARGEST_PAYLOAD = 15 * 1024
"""The largest payload of an RPC, in bytes."""


def said(turn: int, text: str, agent: str | None = "reception", **more: Any) -> SpokenLine:
    return SpokenLine(turn, agent, text, **more)


async def transcript(page: Workshop, before: int | None = None) -> dict[str, Any]:
    return await page.call("get_transcript", {} if before is None else {"before": before})


async def test_the_lines_of_a_call_are_told_oldest_first() -> None:
    page = Workshop()
    assert await transcript(page) == {"lines": [], "earlier": False}

    page.session.lines.add(said(0, "Which car?"))
    page.session.lines.add(said(1, "The red one.", None, utterance="U_1"))
    page.session.lines.add(said(1, "Its brakes are", interrupted=True, utterance="U_2"))

    of = {"speaker": "agent", "agent": "reception", "interrupted": False, "utterance": None}
    assert await transcript(page) == {
        "lines": [
            {"number": 0, "turn": 0, "text": "Which car?"} | of,
            {"number": 1, "turn": 1, "text": "The red one."}
            | {"speaker": "user", "agent": None, "interrupted": False, "utterance": "U_1"},
            {"number": 2, "turn": 1, "text": "Its brakes are"}
            | of
            | {"interrupted": True, "utterance": "U_2"},
        ],
        "earlier": False,
    }


async def test_only_the_user_gets_what_was_said() -> None:
    page = Workshop()
    for who in (MECHANIC, MANAGER, "a-stranger"):
        assert (await page.refused("get_transcript", who=who))["code"] == 4003


async def test_after_the_end_of_a_call_its_lines_can_still_be_read() -> None:
    page = Workshop()
    page.session.lines.add(said(0, "Goodbye."))
    page.session.end()
    assert [line["text"] for line in (await transcript(page))["lines"]] == ["Goodbye."]


async def test_a_number_that_is_none_is_refused() -> None:
    for before in (-1, 1.5, "0", True):
        told = await Workshop().refused("get_transcript", {"before": before})
        assert told["code"] == 4001


def test_of_a_turn_that_is_told_again_the_last_words_count() -> None:
    lines = Lines()
    again = said(1, "the red car", None, utterance="U_2")
    for one in (said(1, "red", None, utterance="U_1"), said(1, "Yes?"), again):
        lines.add(one)
    lines.add(said(2, " ", None))
    assert [line.text for line in lines.page(None).lines] == ["the red car", "Yes?"]
    assert [line.utterance for line in lines.page(None).lines] == ["U_2", None]


def test_of_many_lines_the_newest_are_kept_under_their_numbers() -> None:
    lines = Lines(said(number, str(number)) for number in range(MOST_LINES + 7))
    shown = lines.page(None)
    assert [line.number for line in shown.lines] == [int(line.text) for line in shown.lines]
    assert shown.lines[-1].number == MOST_LINES + 6

    first = lines.page(8)
    assert ([line.number for line in first.lines], first.earlier) == ([7], False)
    for before in (0, 7):
        assert lines.page(before).lines == ()


def test_what_was_forgotten_is_told_to_nobody() -> None:
    lines = Lines([said(0, "Which car?")])
    lines.clear()
    assert lines.page(None).lines == ()
    lines.add(said(0, "Forgotten."))
    assert [(line.number, line.text) for line in lines.page(None).lines] == [(1, "Forgotten.")]


@given(st.lists(st.text(min_size=1, max_size=60), max_size=40), st.integers(1, 300))
def test_every_page_fits_into_a_reply_and_all_together_hold_every_line(
    texts: list[str], times: int
) -> None:
    lines = Lines(said(0, text * times) for text in texts)
    kept = [text * times for text in texts if text.strip()]

    read: list[str] = []
    before = None
    while True:
        page = lines.page(before)
        assert len(page.model_dump_json().encode()) <= LARGEST_PAYLOAD
        assert json.loads(page.model_dump_json())["earlier"] == page.earlier
        read = [line.text for line in page.lines] + read
        if not page.earlier:
            break
        assert page.lines
        before = page.lines[0].number

    assert read == [
        text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…" for text in kept
    ]
