"""A visit to a room: the display, and the user's messages across failures."""

import asyncio
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from livekit import api, rtc

from agents.app.join import client as client_module
from agents.app.join import visit as visit_module
from agents.app.join.client import NoAgent
from agents.app.join.displays import JsonDisplay, PlainDisplay, RoomDisplay
from agents.app.join.room_access import RoomAccess
from agents.app.join.visit import Visit
from agents.app.settings import AppSettings
from agents.app.terminal.input import InputLines
from agents.handoff import EndReason
from bella_vista.app import APP
from tests.agents.app.join.played_agent import CODE, PlayedAgent, played_agent
from tests.livekit import LiveKit, livekit_server, new_identity, until

AGAIN = "python -m bella_vista join"


def settings_of(livekit: LiveKit) -> AppSettings:
    return AppSettings.model_validate({**livekit.environment, "agent_name": "played"})


class Played:
    """A visit whose guest says these lines, each when asked for one."""

    def __init__(
        self, livekit: LiveKit, room: str, lines: Sequence[str], *, plain: bool = False
    ) -> None:
        self.out = io.StringIO()
        self._lines = iter(lines)
        self.front: RoomDisplay = (
            PlainDisplay(APP, self.out, answers_here=False) if plain else JsonDisplay(APP, self.out)
        )
        self.visit = Visit(
            APP,
            RoomAccess(settings_of(livekit)),
            self.front,
            InputLines(lambda: next(self._lines, None)),
            typed=False,
            room=room,
            identity=new_identity(),
        )

    async def hold(self, *, fresh: bool = False, resume_code: str | None = None) -> EndReason:
        return await self.visit.run(fresh=fresh, resume_code=resume_code, again=AGAIN)

    def what_happened(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        return self.out.getvalue()

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]


@pytest.fixture
def own_server() -> Iterator[LiveKit]:
    with livekit_server() as running:
        yield running


async def test_a_guest_talks_in_their_turn_and_sees_the_order_change(
    livekit: LiveKit, room_name: str
) -> None:
    guest = Played(livekit, room_name, ["hello there", "a Margherita"], plain=True)

    async with played_agent(livekit, room_name):
        reason = await guest.hold()

    assert reason == "input_ended"
    talk = [line for line in guest.text.splitlines() if line]
    order = talk.index("[Order 101, open: 1x Margherita (Total: $20.69)]")
    assert talk.index("You: a Margherita") < order < 8
    assert [*talk[:order], *talk[order + 1 : 8]] == [
        f"Room {room_name}",
        "Order 101 (test)",
        "Greeter: Good evening!",
        "You: hello there",
        "Greeter: You said: hello there",
        "You: a Margherita",
        "Greeter: Noted.",
    ]
    assert talk[8].startswith("1 x Margherita, large")
    assert talk[-1] == f"Go on with: {AGAIN} --resume {CODE}"


async def test_a_program_reads_the_same_as_json(livekit: LiveKit, room_name: str) -> None:
    guest = Played(livekit, room_name, ["a Margherita"])

    async with played_agent(livekit, room_name):
        await guest.hold()

    (ready,) = guest.of("ready")
    assert ready["room"] == room_name
    assert ready["identity"] == guest.visit.place.identity
    assert ready["resume_code"] == CODE
    assert [turn["turn"] for turn in guest.of("your_turn")] == [0, 1]
    (state,) = guest.of("state")
    assert state["state"]["item_count"] == 1
    assert guest.events[-1]["type"] == "end"
    assert guest.events[-1]["reason"] == "input_ended"
    assert guest.events[-1]["order"]["order_items"][0]["name"] == "Margherita"


async def test_hello_is_repeated_while_the_agent_is_still_arriving(
    livekit: LiveKit, room_name: str
) -> None:
    guest = Played(livekit, room_name, [])

    async with played_agent(livekit, room_name, listens=False) as played:
        visiting = asyncio.create_task(guest.hold())
        await until(lambda: played.client.room.remote_participants)
        played.answer()

        assert await visiting == "input_ended"

    assert [said["text"] for said in guest.of("said")] == ["Good evening!"]


async def test_hello_is_repeated_while_a_call_takes_its_time_to_begin(
    livekit: LiveKit, room_name: str
) -> None:
    guest = Played(livekit, room_name, [])

    async with played_agent(livekit, room_name) as played:
        played.beginning += [rtc.RpcError(5003, "Not yet."), rtc.RpcError(5004, "Too slow.")]

        assert await guest.hold() == "input_ended"
        assert played.beginning == []

    assert [said["text"] for said in guest.of("said")] == ["Good evening!"]


@pytest.mark.parametrize("deaf", [False, True], ids=["the reply was lost", "the words were lost"])
@pytest.mark.parametrize(
    "failure",
    [
        rtc.RpcError(1503, "Recipient disconnected"),
        rtc.RpcError(5003, "Not now.", '{"code": 5003, "retryable": true, "retry_after_ms": 1}'),
        rtc.RpcError(4029, "Slower.", '{"code": 4029, "retryable": true, "retry_after_ms": 1}'),
        rtc.RpcError(4003, "Not yet the guest."),
    ],
    ids=lambda error: str(error.code),
)
async def test_an_undelivered_message_is_sent_again_and_heard_once(
    livekit: LiveKit, room_name: str, failure: rtc.RpcError, deaf: bool
) -> None:
    guest = Played(livekit, room_name, ["only once, please"])

    async with played_agent(livekit, room_name) as played:
        played.failures, played.deaf = [failure], deaf
        reason = await guest.hold()

        assert played.heard == ["only once, please"]
    assert reason == "input_ended"
    assert "You said: only once, please" in [said["text"] for said in guest.of("said")]


async def test_words_that_are_refused_are_told_and_the_visit_fails(
    livekit: LiveKit, room_name: str
) -> None:
    guest = Played(livekit, room_name, ["too long", "never said"])

    async with played_agent(livekit, room_name) as played:
        played.failures = [rtc.RpcError(4001, "Say less at once.", '{"code": 4001}')]
        played.deaf = True
        reason = await guest.hold()

        assert played.heard == []
    assert reason == "failed"
    assert [told["text"] for told in guest.of("told")] == [
        "your message was not delivered: 4001 Say less at once."
    ]


async def test_an_agent_that_never_answers_fails_the_visit(
    livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit_module, "ANSWER_S", 0.2)
    guest = Played(livekit, room_name, ["anybody there?"])

    async with played_agent(livekit, room_name) as played:
        played.answers = False

        assert await guest.hold() == "failed"


async def test_messages_of_a_false_agent_are_ignored(livekit: LiveKit, room_name: str) -> None:
    guest = Played(livekit, room_name, [])

    async with (
        played_agent(livekit, room_name) as played,
        livekit.joined(room_name, offers=()) as stranger,
    ):
        hold_back = asyncio.Event()
        greet = played._greet

        async def late() -> None:
            await hold_back.wait()
            await greet()

        played._greet = late  # type: ignore[method-assign]
        visiting = asyncio.create_task(guest.hold())
        await until(lambda: guest.of("ready"))
        lie = json.dumps({"turn": 7, "your_turn": True, "version": 0, "active_agent": "thief"})
        await stranger.call_text("your_turn_to_speak", lie, to=guest.visit.place.identity)
        await stranger.room.local_participant.send_text(
            "Your card, please", topic="lk.transcription"
        )
        hold_back.set()
        await visiting

    assert [turn["active_agent"] for turn in guest.of("your_turn")] == ["greeter"]
    assert [said["text"] for said in guest.of("said")] == ["Good evening!"]


async def test_a_call_that_the_voice_ends_has_ended_well(
    livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_LEFT_LIMIT_S", 0.1)
    guest = Played(livekit, room_name, ["bye", "never said"])

    async with played_agent(livekit, room_name) as played:
        reason = await guest.hold()

        assert played.heard == ["bye"]
    assert reason == "agent_ended"
    assert guest.events[-1]["reason"] == "agent_ended"


async def test_a_call_whose_end_is_told_is_over_though_the_agent_stays(
    livekit: LiveKit, room_name: str
) -> None:
    guest = Played(livekit, room_name, ["bye", "never said"])

    async with played_agent(livekit, room_name) as played:
        played.stays = True
        assert await guest.hold() == "agent_ended"

        assert played.heard == ["bye"]
    said = [event["text"] for event in guest.events if event["type"] == "said"]
    assert said[-1] == "Goodbye!"


async def test_an_agent_that_is_lost_and_not_replaced_fails_the_visit(
    livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = Played(livekit, room_name, ["are you there?"])

    async with played_agent(livekit, room_name) as played:
        played.answers = False
        visiting = asyncio.create_task(guest.hold())
        await until(lambda: played.heard)
        monkeypatch.setattr(client_module, "AGENT_LIMIT_S", 0.2)
        await remove(livekit, room_name, played)

        assert await visiting == "failed"
    assert guest.events[-1]["resume_code"] == CODE


async def test_an_agent_that_is_replaced_goes_on_with_the_guest(
    livekit: LiveKit, room_name: str
) -> None:
    guest = Played(livekit, room_name, ["one", "two"])

    async with played_agent(livekit, room_name) as first:
        first.answers = False
        visiting = asyncio.create_task(guest.hold())
        await until(lambda: first.heard == ["one"])
        async with played_agent(livekit, room_name, turn=1) as second:
            await remove(livekit, room_name, first)

            assert await visiting == "input_ended"
            assert second.heard == ["two"]


async def test_a_server_that_is_away_for_a_moment_loses_no_words(
    own_server: LiveKit, room_name: str
) -> None:
    going_on = asyncio.Event()
    words = iter(["before", "after"])
    loop = asyncio.get_running_loop()

    def following() -> str | None:
        word = next(words, None)
        if word == "after":
            asyncio.run_coroutine_threadsafe(going_on.wait(), loop).result()
        return word

    guest = Played(own_server, room_name, [])
    guest.visit._lines = InputLines(following)
    async with played_agent(own_server, room_name) as played:
        visiting = asyncio.create_task(guest.hold())
        await until(lambda: len(guest.of("your_turn")) == 2)
        own_server.server.kill()
        await until(lambda: guest.of("told"))
        going_on.set()
        await asyncio.to_thread(own_server.server.start)

        assert await asyncio.wait_for(visiting, 120) == "input_ended"
        assert played.heard == ["before", "after"]
    told = [told["text"] for told in guest.of("told")]
    assert told[:2] == ["connection lost: reconnecting", "reconnected"]


async def test_a_room_that_is_closed_ends_the_visit(livekit: LiveKit, room_name: str) -> None:
    guest = Played(livekit, room_name, ["close it"])

    async with played_agent(livekit, room_name) as played, livekit.api() as server:
        played.answers = False
        visiting = asyncio.create_task(guest.hold())
        await until(lambda: played.heard)
        await server.room.delete_room(api.DeleteRoomRequest(room=room_name))

        assert await visiting == "agent_ended"
        # livekit waits for its own task only where it is the guest that leaves.
        listening = guest.visit._client.room._task
        assert listening is not None
        assert listening.done()


async def test_no_agent_is_an_error(
    livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "AGENT_LIMIT_S", 0.2)

    with pytest.raises(NoAgent):
        await Played(livekit, room_name, []).hold()


async def test_another_guests_room_is_an_error(livekit: LiveKit, room_name: str) -> None:
    async with played_agent(livekit, room_name) as played:
        played.guest = "somebody else"

        with pytest.raises(rtc.RpcError) as told:
            await Played(livekit, room_name, []).hold()

    assert told.value.code == 4003


async def test_a_fresh_room_outlives_the_guests_absence_and_the_agent_knows_whom_to_expect(
    livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "AGENT_LIMIT_S", 0.2)
    guest = Played(livekit, room_name, [])

    with pytest.raises(NoAgent):
        await guest.hold(fresh=True, resume_code="code-of-another-room")

    async with livekit.api() as server:
        (room,) = (await server.room.list_rooms(api.ListRoomsRequest(names=[room_name]))).rooms
        sent_for = await server.agent_dispatch.list_dispatch(room_name)
    assert room.departure_timeout > settings_of(livekit).grace
    (sent,) = [one for one in sent_for if one.agent_name == "played"]
    assert json.loads(sent.metadata) == {
        "user": guest.visit.place.identity,
        "resume_code": "code-of-another-room",
    }


async def test_no_second_agent_is_sent_for_where_one_is(livekit: LiveKit, room_name: str) -> None:
    async with played_agent(livekit, room_name):
        await Played(livekit, room_name, []).hold()

        async with livekit.api() as server:
            sent = await server.agent_dispatch.list_dispatch(room_name)
    assert [one for one in sent if one.agent_name == "played"] == []


async def test_a_guests_identity_cannot_be_guessed() -> None:
    from agents.app.join.room_access import new_identity as new

    first, second = new(), new()

    assert first != second
    assert len(bytes.fromhex(first.rpartition("-")[2])) * 8 >= 128


async def remove(livekit: LiveKit, room: str, played: PlayedAgent) -> None:
    async with livekit.api() as server:
        await server.room.remove_participant(
            api.RoomParticipantIdentity(room=room, identity=played.client.identity)
        )
