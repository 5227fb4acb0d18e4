"""The patient's page beside the talk."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from livekit.rtc import RpcError

from agents.app.rooms.page import Page
from agents.handoff import Call, Said
from agents.testing import Conversation, ScriptedLLM, calls, says, until
from examples.clinic.actions import book
from examples.clinic.app import APP
from examples.clinic.clinic import Clinic
from examples.clinic.commands import ChooseSlot
from examples.clinic.page import PATIENT, STAFF, VisitView, view
from examples.clinic.tests.kit import TUESDAY, WEDNESDAY, Front
from examples.clinic.visit import ClinicState
from rpc.gateway import Caller, Gateway, Subscribers
from rpc.page import PageMethods, Session, contract
from rpc.testing import FakeRoom


@pytest.fixture
async def room() -> AsyncIterator[FakeRoom]:
    async with FakeRoom() as room:
        room.join("ada")
        yield room


async def let_in(caller: Caller) -> None:
    """Bind every caller that has a role."""


def session_of(call: Call[ClinicState, Clinic]) -> Session[ClinicState, Clinic]:
    """Make what the methods work on."""
    shared = call.shared
    return Session(APP.page_spec, shared, call, state_id=shared.state.visit_id, agent=APP.name)


async def serve(
    room: FakeRoom,
    call: Call[ClinicState, Clinic],
    session: Session[ClinicState, Clinic] | None = None,
) -> Gateway:
    """Serve a call's visit to the clients in a room, as the framework does."""
    spec, shared, session = APP.page_spec, call.shared, session or session_of(call)
    methods = PageMethods(spec, let_in)
    methods.open(session, Subscribers(room.local_participant, session.views, spec.changed_method))
    gateway = Gateway(
        methods.methods(),
        role_of={"ada": PATIENT, "desk": STAFF}.get,
        is_there=lambda identity: True,
        version=lambda: shared.version,
    )
    gateway.install(room.local_participant)
    return gateway


async def test_a_page_books_while_the_agent_talks(front: Front, room: FakeRoom) -> None:
    call = front.call(front.ready(), agent="scheduling")
    gateway = await serve(room, call)
    model = ScriptedLLM(
        [
            says("On which day?"),
            calls(("choose_slot", {"slot": "tuesday 9:30"})),
            says("Tuesday at 9:30. Shall I book it?"),
            calls("book_visit"),
            says("I see that you have booked Wednesday at 10:00 yourself."),
        ]
    )

    async with Conversation(call, model) as talk:
        await talk.user_says("Tuesday at 9:30")
        reply = json.loads(
            await room.call("ada", "visit.book", {"slot": "wednesday 10:00", "version": 1})
        )
        turn = await talk.user_says("Yes")
    await gateway.aclose()

    assert reply == {"version": 2, "slot": "2026-11-25T10:00:00-06:00"}
    assert "not_ready" in turn.tools[0].output
    assert '"slot": "2026-11-25T10:00' in model.requests[-1].texts[-4][1]
    assert talk.state.slot == WEDNESDAY


@pytest.mark.parametrize("answer", ["Wednesday then, well done.", "We are at Maple Street."])
async def test_a_booking_while_the_agent_talks_is_mentioned_once_when_it_has_ended(
    front: Front, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr("agents.app.rooms.page.QUIET_S", 0)
    call, talking = front.call(front.ready(), agent="scheduling"), asyncio.Event()
    model = ScriptedLLM([says("Which day?"), says(answer, until=talking), says("Goodbye.")])

    async with FakeRoom() as room:
        room.join("ada")
        views = session_of(call).views
        page = Page(APP, room.local_participant, call, views, user="ada", silent=True)
        async with Conversation(call, model) as talk:
            talk.user_says_nowait("Where are you?")
            await until(lambda: len(model.requests) == 2)
            await book(call.shared, WEDNESDAY, actor=PATIENT)
            talking.set()
            await until(
                lambda: any("Wednesday, November" in text for text in [*talk.turns][-1].said)
            )
            await talk.answered()
            last = await talk.user_says("Thank you")
        await page.aclose()

    comments = [event for event in talk.events if isinstance(event, Said) and event.about]
    assert [*talk.turns][-2].said == [
        answer,
        "I see you have booked Wednesday, November 25 at 10:00.",
    ]
    assert [(event.about, event.version) for event in comments] == [("booking", 1)]
    assert last.said == ["Goodbye."]


async def test_agent_and_page_book_at_once_and_one_is_refused(front: Front, room: FakeRoom) -> None:
    ready = front.ready().model_copy(update={"wanted": TUESDAY})
    call = front.call(ready, agent="scheduling")
    gateway = await serve(room, call)
    model = ScriptedLLM([says("Shall I book it?"), calls("book_visit"), says("Well?")])

    async with Conversation(call, model) as talk:
        talk.user_says_nowait("Yes")
        try:
            await room.call("ada", "visit.book", {"slot": "wednesday 10:00", "version": 0})
            refused = 0
        except RpcError as error:
            refused = error.code
        await talk.answered()
    await gateway.aclose()

    booked = "Booked" in [*talk.turns][-1].tools[0].output
    assert (booked, refused) in {(True, 4009), (False, 0)}
    assert talk.state.slot == (TUESDAY if booked else WEDNESDAY)
    assert front.context.calendar.is_free(WEDNESDAY if booked else TUESDAY, "another visit")


@pytest.mark.parametrize(
    ("request_", "code", "reason"),
    [
        ({"slot": "sunday 9:30", "version": 0}, 4022, "no_such_slot"),
        ({"slot": "tuesday 10:00", "version": 0}, 4022, "slot_taken"),
        ({"slot": "tuesday 9:30"}, 4001, "invalid_params"),
        ({"slot": "tuesday 9:30", "version": "0"}, 4001, "invalid_params"),
    ],
)
async def test_a_page_is_told_why_it_cannot_book(
    front: Front, room: FakeRoom, request_: dict[str, Any], code: int, reason: str
) -> None:
    await front.context.calendar.take(
        front.context.calendar.named("tuesday 10:00"), "another visit"
    )
    call = front.call(front.ready())
    gateway = await serve(room, call)

    with pytest.raises(RpcError) as refused:
        await room.call("ada", "visit.book", request_)
    await gateway.aclose()

    assert refused.value.code == code
    assert json.loads(refused.value.data or "")["reason"] == reason
    assert call.shared.version == 0


async def test_a_page_that_has_not_seen_the_latest_choice_books_nothing(
    front: Front, room: FakeRoom
) -> None:
    call = front.call(front.ready())
    gateway = await serve(room, call)
    await call.shared.apply(ChooseSlot(slot="tuesday 9:30"), actor="scheduling")

    with pytest.raises(RpcError) as refused:
        await room.call("ada", "visit.book", {"slot": "wednesday 10:00", "version": 0})
    await gateway.aclose()

    assert refused.value.code == 4009
    assert call.state.slot is None


@pytest.mark.parametrize("caller", ["eve", "desk"])
async def test_only_the_patient_books_on_their_page(
    front: Front, room: FakeRoom, caller: str
) -> None:
    room.join(caller)
    call = front.call(front.ready())
    gateway = await serve(room, call)

    with pytest.raises(RpcError) as refused:
        await room.call(caller, "visit.book", {"slot": "tuesday 9:30", "version": 0})
    await gateway.aclose()

    assert refused.value.code == 4003
    assert call.shared.version == 0


async def test_booking_after_the_call_is_refused(front: Front, room: FakeRoom) -> None:
    call = front.call(front.ready())
    session = session_of(call)
    gateway = await serve(room, call, session)
    booking = {"slot": "tuesday 9:30", "version": 0, "key": "k"}
    booked = json.loads(await room.call("ada", "visit.book", booking))
    session.end()

    again = json.loads(await room.call("ada", "visit.book", booking))
    with pytest.raises(RpcError) as refused:
        await room.call("ada", "visit.book", {"slot": "wednesday 10:00", "version": 1})
    await gateway.aclose()

    assert again == booked
    assert refused.value.code == 4022
    assert json.loads(refused.value.data or "")["reason"] == "call_over"
    assert (call.shared.version, call.state.slot) == (1, TUESDAY)


def test_a_client_sees_the_end_of_the_telephone_number_only(front: Front) -> None:
    shown = json.dumps(view(front.ready().model_copy(update={"slot": TUESDAY}), 3, "survey"))

    assert "3125550199" not in shown
    assert '"phone": "...0199"' in shown
    assert "1997-08-30" not in shown
    assert '"slot": "2026-11-24T09:30:00-06:00"' in shown


def test_the_view_has_the_form_that_the_contract_shows(front: Front) -> None:
    ready = front.ready()

    for visit in (type(ready)(visit_id="new"), ready, ready.model_copy(update={"slot": TUESDAY})):
        shown = view(visit, 3, "survey")
        assert VisitView.model_validate_json(json.dumps(shown)).model_dump() == shown
    (state,) = {
        one["properties"]["visit"]["$ref"]
        for one in contract(APP.page_spec, "clinic")["$defs"].values()
        if "visit" in one.get("properties", {})
    }
    assert state == "#/$defs/VisitView"


async def test_staff_check_a_patient_in_and_a_patient_does_not(
    front: Front, room: FakeRoom
) -> None:
    room.join("desk")
    call = front.call(front.ready().model_copy(update={"slot": TUESDAY}))
    gateway = await serve(room, call)

    with pytest.raises(RpcError) as refused:
        await room.call("ada", "visit.apply", {"command": {"op": "check_in"}, "version": 0})
    done = json.loads(
        await room.call("desk", "visit.apply", {"command": {"op": "check_in"}, "version": 0})
    )
    await gateway.aclose()

    assert refused.value.code == 4003
    assert done["visit"]["stage"] == "arrived"


async def test_no_client_sends_a_command_that_only_the_clinic_writes(
    front: Front, room: FakeRoom
) -> None:
    call = front.call(front.ready())
    gateway = await serve(room, call)
    forged = {"op": "record_booking", "slot": TUESDAY.isoformat()}

    with pytest.raises(RpcError) as refused:
        await room.call("ada", "visit.apply", {"command": forged, "version": 0})
    await gateway.aclose()

    assert refused.value.code == 4005
    assert call.state.slot is None
