"""Commands and actions that need the user's answer wait for it."""

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import pytest
from livekit.agents.voice import SpeechHandle

from agents.handoff import Action, Agent, Call, EndCall, Graph, Read, Tool
from agents.testing import Conversation, ScriptedLLM, SpokenConversation, calls, says, until
from tests.agents.handoff.test_whole_writes import Gated
from tests.agents.hotel import AddNights, HotelAgent, SetGuest, Stay, hotel


class SendMessage(Action):
    """Send the guest a message."""

    op: Literal["send_message"] = "send_message"
    text: str
    sent: ClassVar[list[str]] = []

    async def run(self, call: Call[Any, Any]) -> str:
        SendMessage.sent.append(self.text)
        return "Sent."


class Preview(Read[Stay, None]):
    """What the message would say."""

    op: Literal["preview"] = "preview"

    def answer(self, state: Stay, context: None) -> str:
        return f"{state.nights} nights"


class Dial(Action):
    """Telephone the theatre; it takes as long as the test wants."""

    op: Literal["dial"] = "dial"
    gate: ClassVar[asyncio.Event]

    async def run(self, call: Call[Any, Any]) -> str:
        await Dial.gate.wait()
        return "Two seats are left."


@pytest.fixture(autouse=True)
def nothing_sent() -> None:
    SendMessage.sent = []


def desk(offered: tuple[Tool, ...], needs: Mapping[str, tuple[str, ...]]) -> Graph[Stay]:
    agent: type[Agent[Stay, None]] = type(
        "Desk", (HotelAgent,), {"name": "desk", "offers": offered, "needs_answer": needs}
    )
    return Graph((agent,), (), start="desk")


MESSAGE = ("send_message", {"text": "Two nights."})
NIGHTS = ("add_nights", {"nights": 2})


@pytest.mark.parametrize("earlier", [NIGHTS, ("preview", {})])
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("kind", [Conversation, SpokenConversation])
async def test_an_action_waits_until_the_user_has_answered_to_what_a_tool_brought(
    kind: type[Conversation[Stay, None]], earlier: tuple[str, dict[str, Any]], *, together: bool
) -> None:
    graph = desk((AddNights, Preview, SendMessage), {"send_message": (earlier[0],)})
    at_once = [calls(earlier, MESSAGE)] if together else [calls(earlier), calls(MESSAGE)]
    model = ScriptedLLM(
        [says("Hi."), *at_once, says("Two nights: shall I?"), calls(MESSAGE), says("Sent.")]
    )

    async with kind(hotel(graph=graph), model) as talk:
        asked = await talk.user_says("Two nights, and a message")
        early = list(SendMessage.sent)
        await talk.user_says("Yes")

    assert early == []
    assert SendMessage.sent == ["Two nights."]
    assert asked.tools[-1].output == (
        "Nothing was changed. not_answered: The user has not answered the result of"
        f" {earlier[0]} yet. Tell them the result, and wait for their answer."
        f' {{"needs": "{earlier[0]}"}}'
    )


async def test_an_action_called_before_what_it_follows_waits_for_nothing() -> None:
    graph = desk((AddNights, SendMessage), {"send_message": ("add_nights",)})
    model = ScriptedLLM([says("Hi."), calls(MESSAGE), calls(NIGHTS), says("Sent, and booked.")])

    async with Conversation(hotel(graph=graph), model) as talk:
        turn = await talk.user_says("A message, then two nights")

    assert [tool.is_error for tool in turn.tools] == [False, False]


async def test_an_action_that_goes_last_waits_as_well() -> None:
    graph = desk((AddNights, EndCall), {"end_call": ("add_nights",)})
    model = ScriptedLLM(
        [says("Hi."), calls(NIGHTS, "end_call"), says("Two nights, right?"), calls("end_call")]
    )
    model = ScriptedLLM([*model.script, says("Goodbye.")])

    async with Conversation(hotel(graph=graph), model) as talk:
        asked = await talk.user_says("Two nights, and bye")
        ended = await talk.user_says("Yes")

    assert "not_answered" in asked.tools[-1].output
    assert asked.ended is None
    assert ended.ended is not None


@pytest.mark.parametrize("what", [MESSAGE, NIGHTS])
async def test_one_that_lists_itself_is_asked_about_first(what: tuple[str, Any]) -> None:
    graph = desk((AddNights, SendMessage), {what[0]: (what[0],)})
    model = ScriptedLLM(
        [
            says("Hi."),
            calls(what),
            calls(what),
            says("Shall I?"),
            calls(what),
            calls(what),
            says("Done; once more?"),
        ]
    )

    async with Conversation(hotel(graph=graph), model) as talk:
        asked = await talk.user_says("Please do")
        done = await talk.user_says("Yes")

    assert [tool.is_error for tool in asked.tools] == [True, True]
    assert asked.tools[0].output.startswith(
        "Nothing was changed. not_answered: The user has not said yes to this yet."
    )
    # A yes is for one time.
    assert [tool.is_error for tool in done.tools] == [False, True]
    assert (len(SendMessage.sent), talk.state.nights) in ((1, 0), (0, 2))


async def test_a_yes_to_one_message_is_none_to_another() -> None:
    graph = desk((SendMessage,), {"send_message": ("send_message",)})
    other = ("send_message", {"text": "All is cancelled."})
    model = ScriptedLLM(
        [says("Hi."), calls(MESSAGE), says("Shall I?"), calls(other), says("And this one?")]
    )

    async with Conversation(hotel(graph=graph), model) as talk:
        await talk.user_says("Send it")
        turn = await talk.user_says("Yes")

    assert "not_answered" in turn.tools[0].output
    assert SendMessage.sent == []


@pytest.mark.parametrize("guarded", [MESSAGE, ("set_guest", {"name": "Ada"})])
async def test_words_that_the_reply_has_not_seen_are_no_answer(guarded: tuple[str, Any]) -> None:
    """The user speaks while a reply is at work; what that reply does next cannot rest on it."""
    Dial.gate = asyncio.Event()
    graph = desk((SetGuest, AddNights, SendMessage, Dial), {guarded[0]: ("add_nights",)})
    model = ScriptedLLM(
        [says("Hi."), calls(NIGHTS, "dial"), calls(guarded), says("Two nights, right?")]
    )

    async with Conversation(hotel(graph=graph), model) as talk:
        talk.user_says_nowait("Two nights, and a message")
        await until(lambda: talk.state.nights == 2)
        (speech,) = talk.call.turns.speeches
        assert isinstance(speech, SpeechHandle)
        talk.call.turns.user_spoke()  # a word that no reply has been asked to answer yet
        Dial.gate.set()
        await talk.answered()

    outputs = [tool for turn in talk.turns for tool in turn.tools if tool.name == guarded[0]]
    assert [tool.is_error for tool in outputs] == [True]
    assert (SendMessage.sent, talk.state.guest) == ([], None)


async def test_an_action_waits_for_a_change_before_it_that_is_still_being_stored() -> None:
    disk = Gated()
    graph = desk((AddNights, SendMessage), {"send_message": ("add_nights",)})
    model = ScriptedLLM([says("Hi."), calls(NIGHTS, MESSAGE), says("Two nights: shall I?")])

    async with Conversation(hotel(graph=graph, journal=disk), model) as talk:
        disk.gate.clear()
        talk.user_says_nowait("Two nights, and a message")
        await until(lambda: disk.asked == 1)
        for _ in range(50):
            await asyncio.sleep(0)
        early = list(SendMessage.sent)
        disk.gate.set()
        await talk.answered()

    assert (early, SendMessage.sent) == ([], [])
    assert [tool.name for tool in talk.turns[1].tools if tool.is_error] == ["send_message"]
