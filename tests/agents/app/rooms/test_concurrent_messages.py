"""Messages that a client sends at once: every one that is acknowledged is acted on, or asked about by name."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from livekit import rtc

from agents.app.rooms.process_context import ProcessContext
from bella_vista.local.english.sentences import say
from state.commands import AddItem
from state.context import OrderContext
from state.order import OrderState
from state.shared import Moment
from tests.agents.app.rooms.conftest import Calls
from tests.agents.handoff.test_clock_steps import clock_steps
from tests.livekit import Client, LiveKit, is_turn, until
from tests.stored_orders import new_order

NOT_UNDERSTOOD = say("not understood")
THREE = ["a cola", "a tiramisu", "a large Margherita"]
FIVE = ["One Caesar Salad, please", "One Tiramisu", "remove the salad", "a cola", "my name is Ada"]


async def lines(client: Client) -> dict[str, int]:
    """What is on the order."""
    order = (await client.call("get_order_state"))["order"]
    return {line["name"]: line["quantity"] for line in order["order_items"]}


@pytest.mark.parametrize("greeted", [True, False])
@pytest.mark.parametrize("by", ["say", "lk.chat"])
@pytest.mark.parametrize("sent", [THREE, FIVE])
async def test_concurrent_messages_are_acted_on(
    calls: Calls, livekit: LiveKit, room_name: str, sent: list[str], by: str, *, greeted: bool
) -> None:
    async with calls.agent(room_name), livekit.joined(room_name) as ada:
        await ada.hello()
        if greeted:
            await until(lambda: is_turn(ada, 0))
        if by == "say":
            told = await asyncio.gather(*(ada.call("say", {"text": text}) for text in sent))
            turns = [one["turn"] for one in told]
            assert sorted(turns) == list(range(1, len(sent) + 1))
            came = [text for _, text in sorted(zip(turns, sent, strict=True))]
        else:
            for text in sent:
                await ada.write(text)
            came = sent
        await until(lambda: is_turn(ada, len(sent)))

        there, said = await lines(ada), " ".join(ada.said)
        left = {"Cola": 1, "Tiramisu": 1}
        if sent is THREE:
            assert there == {**left, "Margherita": 1}
        elif came.index(FIVE[0]) < came.index("remove the salad"):
            assert there == left
            assert "Taken off" in said
        else:  # three that are sent at once need not arrive as they were sent
            assert there == {**left, "Caesar salad": 1}
            assert 'About "remove the salad"' in said
        assert (await ada.hello())["turn"] == len(sent)


MANY = [
    *(
        "Tiramisu",
        "Panna cotta",
        "Cannoli",
        "Affogato",
        "Chocolate cake",
        "Fruit salad",
        "Espresso",
    ),
    *("Macchiato", "Cappuccino", "Latte", "Flat white", "Americano", "Hot chocolate", "Mint tea"),
]


async def test_more_than_a_person_writes_at_once_is_acted_on_or_named(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with calls.agent(room_name), livekit.joined(room_name) as ada:
        await ada.hello()
        await until(lambda: is_turn(ada, 0))
        for name in MANY:
            await ada.write(f"one {name}")
        await until(lambda: is_turn(ada, len(MANY)))

        there, said = await lines(ada), " ".join(ada.said)
        assert [one for one in MANY if one not in there and f'About "one {one}"' not in said] == []


@pytest.mark.parametrize("first", [0, 1, 4])
async def test_a_message_during_the_next_agents_opening_is_acted_on_or_named(
    calls: Calls,
    house: ProcessContext[OrderState, OrderContext],
    livekit: LiveKit,
    room_name: str,
    first: int,
) -> None:
    order = await new_order(house.store, house.context, "web_text")
    await order.apply(AddItem(name="Ravioli", quantity=1), actor="order_taker", turn=1)
    told = [Moment(0, "began", "house", ""), Moment(0, "answered", "house", "")]
    told += [Moment(1, "spoke", "guest", ""), Moment(1, "heard", "guest", "ravioli and more")]
    await house.store.record(order.state.order_id, *told)

    async with livekit.joined(room_name) as ada:
        async with calls.agent(room_name, order_id=order.state.order_id):
            await until(ada.agents)
            for name in MANY[:first]:
                await ada.write(f"one {name}")
            await ada.hello()
            for name in MANY[first:]:
                await ada.write(f"one {name}")
                await asyncio.sleep(0)
            await until(lambda: is_turn(ada, 1 + len(MANY)))

            cut = 'cut off while I was still at what you said last: "ravioli and more"'
            await until(lambda: cut in " ".join(ada.said), what="what is said first")
            there, said = await lines(ada), " ".join(ada.said)
            lost = [one for one in MANY if one not in there and f'About "one {one}"' not in said]
            assert lost == []


async def test_messages_that_are_not_understood_are_named(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with calls.agent(room_name), livekit.joined(room_name) as ada:
        await ada.hello()
        await until(lambda: is_turn(ada, 0))
        for text in ("a cola", "qwert yuiop asdf", "a tiramisu"):
            await ada.write(text)
        await until(lambda: is_turn(ada, 3))

        assert await lines(ada) == {"Cola": 1, "Tiramisu": 1}
        assert f'About "qwert yuiop asdf": {NOT_UNDERSTOOD}' in " ".join(ada.said)


async def test_while_the_database_is_locked_a_saying_is_refused_and_never_heard(
    calls: Calls,
    house: ProcessContext[OrderState, OrderContext],
    livekit: LiveKit,
    room_name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with calls.agent(room_name), livekit.joined(room_name) as ada:
        await ada.hello()
        await until(lambda: is_turn(ada, 0))
        monkeypatch.setattr("rpc.page.session.SAY_S", 0.1)
        with sqlite3.connect(tmp_path / "orders.db", isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            refused = await refusal(ada, {"text": "a cola", "key": "k"})
            assert refused.code == 5003
            other.execute("ROLLBACK")
        other.close()
        monkeypatch.setattr("rpc.page.session.SAY_S", 20.0)

        assert await ada.call("say", {"text": "a cola", "key": "k"}) == {"turn": 1}
        await until(lambda: is_turn(ada, 1))
        assert await lines(ada) == {"Cola": 1}


async def refusal(client: Client, payload: dict[str, Any]) -> rtc.RpcError:
    """Say something that is refused."""
    with pytest.raises(rtc.RpcError) as refused:
        await client.call("say", payload)
    return refused.value


@pytest.mark.parametrize("step", [-7200.0, -20.0, 7200.0])
async def test_a_message_after_a_clock_step_is_acted_on(
    calls: Calls, livekit: LiveKit, room_name: str, step: float
) -> None:
    async with calls.agent(room_name) as agent, livekit.joined(room_name) as ada:
        await ada.hello()
        await until(lambda: is_turn(ada, 0))
        await ada.call("say", {"text": "a cola"})
        await until(lambda: is_turn(ada, 1))
        talk = agent.call._conversation
        assert talk is not None
        clock_steps(talk.call, step)
        await ada.call("say", {"text": "a tiramisu"})
        await until(lambda: is_turn(ada, 2))
        clock_steps(talk.call, step)
        await ada.write("a large Margherita")
        await until(lambda: is_turn(ada, 3))

        assert await lines(ada) == {"Cola": 1, "Tiramisu": 1, "Margherita": 1}
