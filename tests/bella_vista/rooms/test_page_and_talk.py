"""An agent mentions changes on the page once, in the guest's turn."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from agents.testing import ScriptedLLM, says
from tests.agents.app.rooms.checked_client import LARGE, TIRAMISU, Checked, served
from tests.agents.app.rooms.conftest import Calls, Changed
from tests.livekit import LONG_S, LiveKit, until

SOON_S = 0.2


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is taken to be quiet sooner than in a real call."""
    monkeypatch.setattr("agents.app.rooms.page.QUIET_S", SOON_S)


@pytest.fixture
def last_one(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """A page is not quiet until the test says so, right before the last change in a row."""
    with monkeypatch.context() as patch:
        patch.setattr("agents.app.rooms.page.QUIET_S", LONG_S)
        yield patch.undo


async def quiet(ada: Checked) -> None:
    """Wait until a remark would have been made if there were one to make: until another one has been."""
    await ada.apply("add_note", title="another", content="thing")
    await ada.heard("left a note")


async def test_changes_in_a_row_are_spoken_to_once(
    calls: Calls, livekit: LiveKit, room_name: str, last_one: Callable[[], None]
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        client = ada.client
        assert [one["your_turn"] for one in client.turns] == [True]
        await ada.apply(**LARGE)
        last_one()
        await ada.apply(**TIRAMISU)
        await ada.heard("I see you added 2 large Margherita and added a Tiramisu.")
        await until(lambda: [one["your_turn"] for one in client.turns] == [True, False, True])
        assert {one["turn"] for one in client.turns} == {0}  # the guest has said nothing
        assert len(client.said) == 2
        await ada.step("set_customer", name="Ada")
        await ada.heard("gave me your name")
        await quiet(ada)
        assert sum("gave me your name" in one for one in client.said) == 1
        assert sum("Tiramisu" in one for one in client.said) == 1
        await ada.say("what do I have so far?")
        assert "Tiramisu" in client.said[-1]
        assert "Margherita" in client.said[-1]


async def test_a_change_that_was_undone_is_not_spoken_to(
    calls: Calls, livekit: LiveKit, room_name: str, last_one: Callable[[], None]
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        added = await ada.apply(**TIRAMISU)
        last_one()
        await ada.apply("remove_item", line_id="L1", version=added["version"])
        await quiet(ada)
        assert len(ada.client.said) == 2


async def test_a_voice_is_not_interrupted_by_the_page(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    thought = asyncio.Event()
    model = ScriptedLLM(
        [says("Good evening!"), says("We close at half past midnight.", until=thought)]
    )
    house = changed(model=lambda: model)
    async with served(calls, livekit, room_name, house=house) as (ada, _):
        assert (await ada.call("say", {"text": "what time do you close?"}))["turn"] == 1
        await until(lambda: len(model.requests) == 2)
        await ada.apply(**TIRAMISU)
        asyncio.get_running_loop().call_later(3 * SOON_S, thought.set)
        await ada.heard("half past midnight")
        await ada.heard("I see you added a Tiramisu.")
        # The agent spoke up after the guest's turn had begun.
        await until(
            lambda: (
                [(one["turn"], one["your_turn"]) for one in ada.client.turns]
                == [(0, True), (0, False), (1, True), (1, False), (1, True)]
            )
        )
        assert "half past midnight" in ada.client.said[1]
        assert len(ada.client.said) == 3


@pytest.mark.parametrize("answer", ["So you have put a dessert in.", "We close at midnight."])
async def test_a_change_is_spoken_to_once_however_a_model_words_its_reply(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str, answer: str
) -> None:
    thought = asyncio.Event()
    model = ScriptedLLM([says("Good evening!"), says(answer, until=thought)])
    house = changed(model=lambda: model)
    async with served(calls, livekit, room_name, house=house) as (ada, _):
        await ada.call("say", {"text": "I put a tiramisu in. When do you close?"})
        await until(lambda: len(model.requests) == 2)
        await ada.apply(**TIRAMISU)
        thought.set()
        await ada.heard(answer)
        await ada.heard("I see you added a Tiramisu")
        await quiet(ada)
        assert sum("I see you added" in one for one in ada.client.said) == 1


async def test_an_order_is_read_back_confirmed_and_placed_from_the_page_by_the_same_conditions(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):

        async def not_yet(op: str, code: int, reason: str | None = None) -> None:
            version = (await ada.order())["version"]
            told = await ada.refused("order.apply", {"command": {"op": op}, "version": version})
            assert (told["code"], told["reason"]) == (code, reason or told["reason"]), op

        await not_yet("read_back", 4022, "missing")
        await ada.apply(**LARGE)
        await not_yet("read_back", 4022, "missing")
        await not_yet("confirm_order", 4010)
        await ada.step("set_fulfilment", kind="pickup")
        assert (await ada.step("read_back"))["stage"] == "review"
        await ada.heard("This is what I have: 2x large Margherita")
        assert ada.client.said[-1].endswith("Is that right?")
        await not_yet("place_order", 4010)
        await ada.apply(**TIRAMISU)
        await ada.heard("I will read it back again before we place it.")
        await not_yet("confirm_order", 4010)
        await ada.step("read_back")
        assert (await ada.step("confirm_order"))["stage"] == "confirmed"
        await ada.heard("How would you like to pay")
        await not_yet("place_order", 4022, "missing")
        await ada.step("choose_payment", method="cash")
        placed = await ada.step("place_order")
        assert placed["stage"] == "placed"
        await ada.heard(f"Your order is placed, number {placed['order_number']}.")
        assert sum("is placed" in one for one in ada.client.said) == 1


async def test_each_step_on_the_page_is_spoken_to_by_the_agent_whose_task_comes_next(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):

        async def heard_from(agent: str, words: str) -> None:
            await ada.heard(words)
            await until(lambda: ada.client.turns[-1].get("active_agent") == agent)
            spoken = [one for one in ada.client.written if words in one.text]
            assert [one.attributes["active_agent"] for one in spoken] == [agent]
            assert (await ada.order())["active_agent"] == agent

        await ada.step("set_customer", name="Ada")
        await heard_from("greeter", "gave me your name")
        await ada.apply(**LARGE)
        await heard_from("order_taker", "I see you added 2 large Margherita.")
        await ada.step("set_fulfilment", kind="pickup")
        await ada.step("read_back")
        await ada.step("confirm_order")
        await heard_from("payment", "How would you like to pay")
        await ada.apply(**TIRAMISU)
        await heard_from("order_taker", "I will read it back again before we place it.")
        await ada.step("read_back")
        await ada.step("confirm_order")
        await ada.step("choose_payment", method="cash")
        await ada.step("place_order")
        await heard_from("feedback", "Your order is placed")
        assert ada.client.turns[-1]["expects"] == "rating"
        await ada.say("5, and the dough was great")
        order = await ada.order()
        assert (order["feedback_rating"], order["stage"]) == (5, "placed")


async def test_the_voice_goes_on_from_what_was_done_on_the_page(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        await ada.say("two large Margheritas")
        await ada.step("set_fulfilment", kind="pickup")
        await ada.step("set_customer", name="Ada")
        await ada.step("read_back")
        await ada.heard("Is that right?")
        await ada.say("yes")
        assert (await ada.order())["stage"] == "confirmed"
        await ada.step("choose_payment", method="card")
        await ada.step("set_tip", percentage=0)
        await ada.heard("chose to pay by card")
        await ada.say("yes, please place it")
        assert (await ada.order())["stage"] == "placed"


async def test_an_order_placed_on_the_page_is_not_asked_about_again(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        for words in ("a large Margherita", "no that's all", "pickup", "Ada", "yes", "card"):
            await ada.say(words)
        assert ada.client.turns[-1]["expects"] == "amount"
        placed = await ada.step("place_order")
        await ada.heard("you can rate this call")
        await until(lambda: ada.client.turns[-1].get("expects") == "rating")
        await ada.say("10 percent")
        assert f"number {placed['order_number']}" in ada.client.said[-1]
        assert "tip" not in ada.client.said[-1]
        assert ada.client.turns[-1]["expects"] == "rating"
        await ada.say("five stars")
        assert (await ada.order())["feedback_rating"] == 5


async def test_an_order_confirmed_on_the_page_is_paid_for_in_the_talk(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        await ada.apply(**LARGE)
        await ada.step("set_fulfilment", kind="pickup")
        await ada.step("read_back")
        await ada.heard("Is that right?")
        await ada.step("confirm_order")
        await ada.heard("How would you like to pay")
        await ada.say("card")
        await ada.heard("add a tip")
        assert ada.client.turns[-1]["expects"] == "amount"
        await ada.say("no")
        await ada.heard("Shall I place the order?")
        await ada.say("yes")
        assert (await ada.order())["stage"] == "placed"


async def test_a_page_that_is_loaded_again_is_not_told_twice(
    calls: Calls, livekit: LiveKit, room_name: str, last_one: Callable[[], None]
) -> None:
    async with calls.agent(room_name):
        async with livekit.joined(room_name, identity="ada") as page:
            ada = Checked(page)
            await page.hello()
            await ada.turn()
            await ada.apply(**LARGE)
            await ada.step("set_fulfilment", kind="pickup")
        async with livekit.joined(room_name, identity="ada") as page:
            ada = Checked(page)
            await page.hello()
            await ada.heard("Welcome back")
            last_one()
            await quiet(ada)
            assert any("two large Margherita" in one for one in page.said)
            assert not any("added" in one or "pickup" in one for one in page.said)


async def test_the_kitchens_changes_are_not_the_guests(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with (
        livekit.joined(room_name, staff=True) as staff,
        served(calls, livekit, room_name) as (ada, _),
    ):
        await staff.hello()
        await Checked(staff).apply(**TIRAMISU)
        await quiet(ada)
        assert not [one for one in ada.client.said if "Tiramisu" in one]
        await ada.say("what do I have so far?")
        assert "Tiramisu" in ada.client.said[-1]
