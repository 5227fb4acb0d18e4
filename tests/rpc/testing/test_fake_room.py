"""The room without a server does what a room with one was seen to do."""

import asyncio
from collections.abc import Callable

import pytest
from livekit import rtc

from rpc.testing import FakeClock, FakeRoom, RoomError


async def echo(invocation: rtc.RpcInvocationData) -> str:
    return f"{invocation.caller_identity}: {invocation.payload}"


async def fails(calling: Callable[[], object]) -> int:
    with pytest.raises(rtc.RpcError) as error:
        await calling()  # type: ignore[misc]
    return int(error.value.code)


def perform(room: FakeRoom, who: str, response_timeout: float = 10.0) -> "asyncio.Task[str]":
    return asyncio.create_task(
        room.local_participant.perform_rpc(
            destination_identity=who,
            method="ring",
            payload='{"n":1}',
            response_timeout=response_timeout,
        )
    )


async def test_a_call_reaches_a_handler_with_the_callers_identity() -> None:
    async with FakeRoom() as room:
        room.join("ada")
        room.agent.register_rpc_method("echo", echo)

        assert await room.call("ada", "echo", {"a": 1}) == 'ada: {"a": 1}'
        assert room.agent.methods == {"echo"}
        room.agent.unregister_rpc_method("echo")
        assert await fails(lambda: room.call("ada", "echo")) == 1400


async def test_the_handlers_own_errors_come_as_livekit_makes_them() -> None:
    async def wrong(invocation: rtc.RpcInvocationData) -> str:
        raise KeyError("x")

    async def ours(invocation: rtc.RpcInvocationData) -> str:
        raise rtc.RpcError(4001, "m" * 300, "d" * 20_000)

    async with FakeRoom() as room:
        room.join("ada")
        room.agent.register_rpc_method("wrong", wrong)
        room.agent.register_rpc_method("ours", ours)
        with pytest.raises(rtc.RpcError) as error:
            await room.call("ada", "ours")

        assert await fails(lambda: room.call("ada", "wrong")) == 1500
        assert (len(error.value.message), len(error.value.data or "")) == (256, 15_360)


async def test_what_livekit_could_not_send_comes_to_light() -> None:
    async def number(invocation: rtc.RpcInvocationData) -> str:
        return 5  # type: ignore[return-value]

    async def surrogate(invocation: rtc.RpcInvocationData) -> str:
        raise rtc.RpcError(4001, "\ud800")

    async with FakeRoom() as room:
        room.join("ada")
        room.agent.register_rpc_method("number", number)
        room.agent.register_rpc_method("surrogate", surrogate)

        with pytest.raises(TypeError):
            await room.call("ada", "number")
        with pytest.raises(ValueError, match="surrogates"):
            await room.call("ada", "surrogate")


async def test_too_much_is_refused_on_both_ways() -> None:
    async def long(invocation: rtc.RpcInvocationData) -> str:
        return "x" * 15_361

    async with FakeRoom(stream_bytes=100) as room:
        room.join("ada")
        room.agent.register_rpc_method("echo", echo)
        room.agent.register_rpc_method("long", long)

        assert await room.call("ada", "echo", "x" * 100)
        assert await fails(lambda: room.call("ada", "echo", "x" * 101)) == 1500
        assert await fails(lambda: room.call("ada", "long")) == 1504


async def test_the_deadline_of_a_handler_is_livekits() -> None:
    async def hangs(invocation: rtc.RpcInvocationData) -> str:
        await asyncio.Event().wait()
        return ""

    async with FakeRoom() as room:
        room.join("ada")
        room.agent.register_rpc_method("hangs", hangs)

        assert await fails(lambda: room.call("ada", "hangs", response_timeout=0.02)) == 1502


async def test_a_hidden_caller_has_no_name_and_gets_no_answer() -> None:
    heard: list[str] = []

    async def hear(invocation: rtc.RpcInvocationData) -> str:
        heard.append(invocation.caller_identity)
        return ""

    async with FakeRoom() as room:
        room.join("spy", hidden=True)
        room.agent.register_rpc_method("hear", hear)

        assert await fails(lambda: room.call("spy", "hear")) == 1501
        await room.call_by_server("hear")
        assert heard[0] == ""
        assert heard[1] not in room.clients
        assert "spy" not in room.remote_participants


async def test_the_agent_is_told_of_joins_and_leaves() -> None:
    async with FakeRoom() as room:
        seen: list[str] = []
        room.on("participant_connected", lambda one: seen.append(f"+{one.identity}"))
        room.on("participant_disconnected", lambda one: seen.append(f"-{one.identity}"))
        room.join("ada", attributes={"role": "staff"})
        room.join("bob", seen=False)
        assert set(room.remote_participants) == {"ada"}
        assert room.remote_participants["ada"].attributes == {"role": "staff"}

        room.see("bob")
        room.leave("ada")

        assert seen == ["+ada", "+bob", "-ada"]
        with pytest.raises(RoomError, match="no participant"):
            await room.call("ada", "echo")


async def test_a_client_answers_as_it_was_told_to() -> None:
    def refuses(payload: str) -> str:
        raise rtc.RpcError(1, "no")

    async def waits(payload: str) -> str:
        await asyncio.sleep(0)
        return payload

    async with FakeRoom() as room:
        ada = room.join("ada")
        ada.has("ring")
        assert await perform(room, "ada") == "{}"
        ada.has("ring", waits)
        assert await perform(room, "ada") == '{"n":1}'
        ada.has("ring", refuses)
        assert await fails(lambda: perform(room, "ada")) == 1
        ada.lacks("ring")
        assert await fails(lambda: perform(room, "ada")) == 1400
        assert ada.named("ring") == [{"n": 1}] * 4


async def test_a_slow_client_has_the_data_and_its_caller_an_error() -> None:
    async with FakeRoom() as room:
        ada = room.join("ada")
        ada.has("ring", after_s=5.0)
        call = perform(room, "ada")

        await room.clock.advance(2.9)
        assert not call.done()
        await room.clock.advance(0.1)

        assert await fails(lambda: call) == 1502
        assert len(ada.received) == 1


@pytest.mark.parametrize("who", ["phone", "muted", "gone"])
async def test_a_client_without_acknowledgement_costs_seven_seconds(who: str) -> None:
    async with FakeRoom() as room:
        phone = room.join("phone")
        phone.has("ring")
        phone.silent = True
        room.join("muted", can_publish_data=False)
        call = perform(room, who)

        await room.clock.advance(6.9)
        assert not call.done()
        await room.clock.advance(0.1)

        assert await fails(lambda: call) == 1501


async def test_an_unexpected_call_fails_the_test() -> None:
    room = await FakeRoom().__aenter__()
    room.join("ada")
    await fails(lambda: perform(room, "ada"))

    with pytest.raises(RoomError, match="ada was called with ring"):
        await room.__aexit__(None, None, None)


async def test_the_agents_attributes_are_its_own_and_written_down() -> None:
    async with FakeRoom() as room:
        await room.local_participant.set_attributes({"agent": "greeter"})

        assert room.agent.attributes == {"agent": "greeter"}
        assert room.agent.attributes_set == [{"agent": "greeter"}]
        assert (room.name, room.isconnected()) == ("a-room", True)


async def test_sleepers_wake_in_their_order_and_no_earlier() -> None:
    clock, woken = FakeClock(), list[tuple[str, float]]()

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock()))

    tasks = [asyncio.create_task(sleeper("b", 2)), asyncio.create_task(sleeper("a", 1))]
    late = asyncio.create_task(sleeper("c", 9))
    await clock.advance(5)

    assert woken == [("a", 1.0), ("b", 2.0)]
    assert clock() == 5.0
    late.cancel()
    await asyncio.gather(*tasks, late, return_exceptions=True)
    await clock.advance(5)
    assert len(woken) == 2
