"""Turn notices are true, in order, and delay no conversation."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpc.gateway.notices import EndNotices, TurnNotices
from rpc.testing import FakeRoom
from tests.rpc.gateway.clients import Client, Room
from tests.virtual_time import in_virtual_time

METHOD = "your_turn_to_speak"


def turn(number: int) -> dict[str, Any]:
    return {
        "turn": number,
        "your_turn": True,
        "active_agent": "waiter",
        "version": 3,
        "expects": "open",
    }


def withdrawn(number: int) -> dict[str, Any]:
    return {"turn": number, "your_turn": False}


@in_virtual_time
async def test_a_notice_leaves_at_once_and_as_it_was_given() -> None:
    page, other = Client(), Client()
    room = Room(page=page, other=other)
    notices = TurnNotices(room)
    notices.bind("page")

    notices.give({**turn(1), "text": "Sì, à vous.", "choices": ["a", "b"]})
    await asyncio.sleep(1)
    notices.withdraw(1)
    await asyncio.sleep(1)

    assert page.got == [
        {**turn(1), "text": "Sì, à vous.", "choices": ["a", "b"]},
        withdrawn(1),
    ]
    assert page.at == [pytest.approx(0.002), pytest.approx(1.002)]
    assert (other.got, room.methods) == ([], {METHOD})
    await notices.aclose()


async def test_livekits_own_participant_carries_it() -> None:
    async with FakeRoom() as room:
        page = room.join("page")
        page.has(METHOD)
        notices = TurnNotices(room.local_participant)
        notices.bind("page")

        notices.give(turn(1))
        await room.clock.advance(1)
        notices.withdraw(1)
        await room.clock.advance(1)

        assert page.named(METHOD) == [turn(1), withdrawn(1)]
        await notices.aclose()


@in_virtual_time
async def test_a_notice_withdrawn_before_sending_is_never_sent() -> None:
    page = Client(takes=0.5)
    notices = TurnNotices(Room(page=page))
    notices.bind("page")

    notices.give(turn(1))
    notices.withdraw(1)
    await asyncio.sleep(1)
    assert page.got == []

    notices.give(turn(1))
    await asyncio.sleep(0.1)
    for number in (2, 3, 4):  # all while the first is under way
        notices.withdraw(number - 1)
        notices.give(turn(number))
    await asyncio.sleep(1)
    assert page.got == [turn(1), turn(4)]
    await notices.aclose()


@in_virtual_time
async def test_a_withdrawal_names_the_notice_that_the_client_has() -> None:
    page = Client(takes=0.5)
    notices = TurnNotices(Room(page=page))
    notices.bind("page")
    notices.give(turn(1))
    await asyncio.sleep(0.1)

    notices.give(turn(2))
    notices.withdraw(2)
    await asyncio.sleep(2)

    assert page.got == [turn(1), withdrawn(1)]
    await notices.aclose()


@in_virtual_time
async def test_an_old_withdrawal_does_not_take_a_newer_turn_away() -> None:
    page = Client()
    notices = TurnNotices(Room(page=page))
    notices.bind("page")

    notices.give(turn(2))
    notices.withdraw(1)
    await asyncio.sleep(1)

    assert page.got == [turn(2)]
    await notices.aclose()


@in_virtual_time
async def test_a_guest_who_is_bound_late_gets_the_present_notice() -> None:
    page, other = Client(), Client()
    notices = TurnNotices(Room(page=page, other=other))
    notices.give(turn(0))
    notices.withdraw(0)
    notices.give(turn(0))
    await asyncio.sleep(1)

    notices.bind("page")
    notices.bind("page")
    await asyncio.sleep(1)
    notices.bind("other")
    await asyncio.sleep(1)
    notices.withdraw(0)
    await asyncio.sleep(1)

    assert (page.got, other.got) == ([turn(0)], [turn(0), withdrawn(0)])
    await notices.aclose()


@in_virtual_time
async def test_a_phone_is_never_called() -> None:
    room = Room(phone=Client())
    notices = TurnNotices(room)
    notices.bind("phone", silent=True)

    notices.give(turn(0))
    notices.returned("phone")
    notices.may_try_again("phone")
    await asyncio.sleep(10)
    notices.withdraw(0)
    await asyncio.sleep(10)

    assert not room.calls
    await notices.aclose()


@in_virtual_time
async def test_a_client_without_the_method_is_left_alone_until_it_may_be_tried_again() -> None:
    page = Client(deaf=True)
    room = Room(page=page)
    notices = TurnNotices(room)
    notices.bind("page")
    notices.give(turn(0))
    await asyncio.sleep(1)
    page.deaf = False
    notices.withdraw(0)
    notices.give(turn(1))
    notices.may_try_again("stranger")
    await asyncio.sleep(1)
    assert room.calls["page"] == 1

    notices.may_try_again("page")
    notices.may_try_again("page")
    await asyncio.sleep(1)
    notices.may_try_again("page")
    await asyncio.sleep(1)

    assert page.got == [turn(1)]
    await notices.aclose()


@in_virtual_time
async def test_no_withdrawal_is_sent_of_a_notice_that_was_never_sent() -> None:
    page = Client(deaf=True)
    notices = TurnNotices(Room(page=page))
    notices.bind("page")
    notices.give(turn(0))
    await asyncio.sleep(1)

    page.deaf = False
    notices.withdraw(0)
    notices.may_try_again("page")
    await asyncio.sleep(1)

    assert page.got == []
    await notices.aclose()


@in_virtual_time
async def test_a_vanished_client_costs_one_call_and_is_told_when_it_is_back() -> None:
    page = Client(gone=True)
    room = Room(page=page)
    notices = TurnNotices(room)
    notices.bind("page")
    for number in range(3):
        notices.give(turn(number))
        await asyncio.sleep(10)
    assert room.calls["page"] == 1

    page.gone = False
    notices.returned("stranger")
    await asyncio.sleep(1)
    assert page.got == []
    notices.returned("page")
    await asyncio.sleep(1)

    assert page.got == [turn(2)]
    await notices.aclose()


@in_virtual_time
async def test_a_reloaded_page_is_told_once_more_whose_turn_it_is() -> None:
    page = Client()
    room = Room(page=page)
    notices = TurnNotices(room)
    notices.bind("page")
    notices.give(turn(1))
    await asyncio.sleep(1)

    page.leave()
    notices.left("page")
    await asyncio.sleep(1)
    page.come()
    notices.returned("page")
    await asyncio.sleep(5)

    assert page.got == [turn(1), turn(1)]

    notices.withdraw(1)
    await asyncio.sleep(1)
    page.leave()
    notices.left("page")
    page.come()
    notices.returned("page")
    await asyncio.sleep(1)

    assert page.got == [turn(1), turn(1), withdrawn(1)]
    await notices.aclose()


@in_virtual_time
async def test_a_client_that_left_is_not_called() -> None:
    page = Client()
    room = Room(page=page)
    notices = TurnNotices(room)
    notices.bind("page")
    page.leave()
    notices.left("page")
    notices.give(turn(1))
    notices.left("stranger")
    await asyncio.sleep(10)

    assert not room.calls
    await notices.aclose()


@in_virtual_time
async def test_a_page_that_reloads_while_a_notice_is_under_way_is_told_it() -> None:
    page = Client(takes=0.5)
    notices = TurnNotices(Room(page=page))
    notices.bind("page")
    notices.give(turn(1))
    await asyncio.sleep(0.1)

    page.leave()
    notices.left("page")
    page.come()
    notices.returned("page")
    await asyncio.sleep(5)

    assert page.got == [turn(1), turn(1)]
    await notices.aclose()


@in_virtual_time
async def test_a_withdrawal_that_was_lost_is_told_when_the_client_is_back() -> None:
    page = Client()
    notices = TurnNotices(Room(page=page))
    notices.bind("page")
    notices.give(turn(1))
    await asyncio.sleep(1)
    page.gone = True
    notices.withdraw(1)
    await asyncio.sleep(10)

    page.gone = False
    notices.returned("page")
    await asyncio.sleep(1)

    assert page.got == [turn(1), withdrawn(1)]
    await notices.aclose()


@in_virtual_time
async def test_a_client_that_does_not_answer_holds_up_the_next_notice_for_a_second() -> None:
    page = Client(takes=60)
    notices = TurnNotices(Room(page=page))
    notices.bind("page")

    notices.give(turn(1))
    await asyncio.sleep(0.01)
    notices.withdraw(1)
    await asyncio.sleep(5)

    assert page.got == [turn(1), withdrawn(1)]
    assert page.at[1] - page.at[0] < 1.01
    await notices.aclose()


@in_virtual_time
async def test_the_end_breaks_off_what_is_under_way() -> None:
    room = Room(page=Client(gone=True))
    notices = TurnNotices(room)
    notices.bind("page")
    notices.give(turn(1))
    await asyncio.sleep(1)

    before = asyncio.get_running_loop().time()
    await notices.aclose()
    notices.withdraw(1)
    notices.give(turn(2))
    notices.bind("page")
    notices.bind("other")
    await asyncio.sleep(10)

    assert asyncio.get_running_loop().time() - before == pytest.approx(10)
    assert room.calls["page"] == 1


@pytest.mark.parametrize("payload", [{}, {"turn": None}, {"turn": "1"}])
async def test_a_notice_names_its_turn(payload: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError)):
        TurnNotices(Room()).give(payload)


STEPS = st.lists(
    st.one_of(
        st.sampled_from(["give", "withdraw", "speak", "leave", "vanish", "come", "try"]),
        st.sampled_from([0.0, 0.001, 0.01, 0.4, 2.0, 9.0]),
    ),
    max_size=40,
)


@settings(max_examples=400, deadline=None)
@given(
    steps=STEPS,
    takes=st.sampled_from([0.0, 0.01, 0.5, 5.0]),
    away=st.sampled_from([0.0, 0.002, 0.4]),
    deaf=st.booleans(),
    loses_acks=st.booleans(),
)
@in_virtual_time
async def test_in_every_order_of_events_the_last_word_is_the_truth(
    steps: list[str | float], takes: float, away: float, deaf: bool, loses_acks: bool
) -> None:
    page = Client(takes=takes, away=away, deaf=deaf, loses_acks=loses_acks)
    room = Room(page=page)
    notices = TurnNotices(room)
    notices.bind("page")
    number, truth = 0, "nothing"
    for step in steps:
        match step:
            case "give":
                truth = "given"
                notices.give(turn(number))
            case "withdraw":
                truth = "withdrawn"
                notices.withdraw(number)
            case "speak":
                notices.withdraw(number)
                number, truth = number + 1, "withdrawn"
            case "leave":
                page.leave()
                notices.left("page")
            case "vanish":
                page.gone = True
            case "come":
                page.come()
                notices.returned("page")
            case "try":
                notices.may_try_again("page")
            case _:
                await asyncio.sleep(float(step))
    page.come()
    page.deaf = page.loses_acks = False
    notices.returned("page")
    await asyncio.sleep(30)

    if truth == "given":
        assert page.got[-1] == turn(number)
    if truth == "withdrawn":
        assert not page.got or page.got[-1]["your_turn"] is False
    told: int | None = None
    for notice in page.sent:
        if not notice["your_turn"]:
            assert told is not None, "a withdrawal of nothing"
            assert notice == withdrawn(told)
        told = notice["turn"]
    assert room.most_at_once["page"] <= 1
    calls = room.calls["page"]
    notices.returned("stranger")
    await asyncio.sleep(30)
    assert room.calls["page"] == calls
    await notices.aclose()


# -- the end of a call -------------------------------------------------------------------------------

END = {"reason": "agent_ended", "resume_code": "abcd"}


@in_virtual_time
async def test_everybody_is_told_of_the_end_once() -> None:
    page, cook = Client(), Client()
    room = Room(page=page, cook=cook)
    ends = EndNotices(room)
    ends.tell("page", END)
    ends.tell("cook", {"reason": "agent_ended"})
    ends.tell("page", {"reason": "failed"})
    await ends.delivered()
    for identity in ("page", "cook", "nobody"):
        ends.may_try_again(identity)
        ends.left(identity)
        ends.returned(identity)
    await asyncio.sleep(30)
    assert (page.got, cook.got, room.methods) == (
        [END],
        [{"reason": "agent_ended"}],
        {"call_ended"},
    )
    await ends.aclose()
    ends.tell("page", END)
    assert room.calls["page"] == 1


@pytest.mark.parametrize("back", ["returned", "may_try_again"])
@in_virtual_time
async def test_an_absent_client_is_told_of_the_end_on_its_return(back: str) -> None:
    page, lost = Client(), Client(gone=True)
    ends = EndNotices(Room(page=page, lost=lost))
    ends.tell("page", END, away=True)
    ends.tell("lost", END)
    await ends.delivered()
    assert (page.got, lost.got) == ([], [])
    lost.come()
    for identity in ("page", "lost"):
        getattr(ends, back)(identity)
    await ends.delivered()
    assert (page.got, lost.got) == ([END], [END])
    await ends.aclose()


@in_virtual_time
async def test_a_client_without_the_method_or_an_answer_delays_no_other() -> None:
    deaf, slow, page = Client(deaf=True), Client(takes=60.0), Client()
    ends = EndNotices(Room(deaf=deaf, slow=slow, page=page))
    for identity in ("deaf", "slow", "page"):
        ends.tell(identity, END)
    await ends.delivered()
    assert (deaf.got, slow.got, page.got) == ([], [END], [END])
    await ends.aclose()


@in_virtual_time
async def test_waiting_for_all_deliveries_ends_with_the_call() -> None:
    ends = EndNotices(Room(page=Client(away=100.0)))
    ends.tell("page", END)
    waiting = asyncio.create_task(ends.delivered())
    await asyncio.sleep(0.1)
    assert not waiting.done()
    await ends.aclose()
    await waiting
