"""Messages that wait become one user message each in one request, in their order, and are kept like that."""

import asyncio
from typing import Any

from livekit.agents.llm import LLMStream

from agents.handoff import (
    DATA_MARK,
    Call,
    CallPolicy,
    Event,
    Heard,
    Said,
    YourTurn,
    start_text,
    stop,
)
from agents.testing import Conversation, Request, ScriptedLLM, calls, says, until
from state.shared import SharedState
from tests.agents.handoff.aloud import Aloud
from tests.agents.handoff.raw_model import Part, RawModel
from tests.agents.handoff.test_clock_steps import clock_steps, talk_in
from tests.agents.handoff.test_taken_up import Paper
from tests.agents.hotel import HotelAgent, Stay, hotel, hotel_graph

FIVE = ["Two nights", "for Ada", "and a taxi", "no, forget the taxi", "when is breakfast?"]


def by_user(request: Request) -> list[str]:
    """What the user said, as a request shows it."""
    return [
        text for role, text in request.texts if role == "user" and not text.startswith(DATA_MARK)
    ]


async def test_what_is_said_while_a_model_thinks_is_one_message_each() -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([says("Good evening."), says("Never.", until=gate), says("All five.")])

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait(FIVE[0])
        await until(lambda: len(model.requests) == 2)
        for one in FIVE[1:]:
            talk.user_says_nowait(one)
        await talk.answered()
        history = talk.call.session.history.messages()
        own = talk.call.session.current_agent.chat_ctx.messages()
        heard = [event for event in talk.events if isinstance(event, Heard)]
        given = [event.turn for event in talk.events if isinstance(event, YourTurn)]

    assert by_user(model.requests[2]) == FIVE
    assert [one.text_content for one in history if one.role == "user"] == FIVE
    assert [one.text_content for one in own if one.role == "user"] == FIVE
    assert [(one.turn, one.text) for one in heard] == list(enumerate(FIVE, 1))
    assert given == [0, 5]


async def test_the_state_stands_before_all_of_them_and_the_model_is_told_how_many_they_are() -> (
    None
):
    gate = asyncio.Event()
    model = ScriptedLLM([says("Good evening."), says("Never.", until=gate), says("Both.")])

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("Two nights")
        await until(lambda: len(model.requests) == 2)
        talk.user_says_nowait("for Ada")
        await talk.answered()

    texts = model.requests[2].texts
    at = next(place for place, (_, text) in enumerate(texts) if text.startswith(DATA_MARK))
    assert [text for _, text in texts[at + 1 : at + 3]] == ["Two nights", "for Ada"]
    assert "last 2 messages" in texts[-1][1]
    assert all("messages are unanswered" not in text for _, text in model.requests[1].texts)


async def test_what_is_said_before_an_agent_is_there_is_one_message_each() -> None:
    model = ScriptedLLM([says("Good evening."), says("All five.")])
    call = hotel()
    events: list[Event] = []
    call.subscribe(events.append)
    for one in FIVE:
        call.user_said(one)
    await start_text(call, model)
    await until(lambda: any(isinstance(one, YourTurn) for one in events))
    await stop(call)

    assert by_user(model.requests[0]) == []
    assert by_user(model.requests[1]) == FIVE


async def test_what_is_said_during_a_handoff_is_one_message_each() -> None:
    paper = Paper()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_bar"),
            calls(("set_guest", {"name": "Ada"})),
            says("Two beers."),
        ]
    )

    async with Conversation(hotel(journal=paper), model) as talk:
        await talk.answered()

        def meanwhile() -> None:
            talk.call.user_said("I am Ada")
            talk.call.user_said("Two please")

        paper.first = meanwhile
        talk.user_says_nowait("A beer")
        await until(lambda: talk.call.turn == 3)
        await talk.answered()

    assert by_user(model.requests[2]) == ["A beer", "I am Ada", "Two please"]
    assert "last 3 messages" in model.requests[2].texts[-1][1]
    assert paper.turns == [("hand_over", None), ("set_guest", 3)]


async def test_they_stay_in_their_order_when_the_clock_steps_between_them() -> None:
    gate = asyncio.Event()
    model = ScriptedLLM(
        [says("Good evening."), says("Never.", until=gate), says("All five."), says("Yes.")]
    )

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait(FIVE[0])
        await until(lambda: len(model.requests) == 2)
        for one in FIVE[1:]:
            clock_steps(talk.call, -20.0)
            talk.user_says_nowait(one)
        await talk.answered()
        clock_steps(talk.call, -7200.0)
        await talk.user_says("Really?")

    assert by_user(model.requests[3]) == [*FIVE, "Really?"]


async def test_messages_that_a_broken_off_reply_was_shown_beside_another_travel_with_what_was_done() -> (
    None
):
    first, second = asyncio.Event(), asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            says("Never.", until=first),
            calls(("set_guest", {"name": "Ada"})),
            says("Never.", until=second),
            calls("transfer_to_bar"),
            says("Two beers, Ada."),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("I am Ada")
        await until(lambda: len(model.requests) == 2)
        talk.user_says_nowait("A beer")
        talk.user_says_nowait("A cold one")
        await until(lambda: len(model.requests) == 4)
        talk.user_says_nowait("Two please")
        await talk.answered()

    assert [text for _, text in talk_in(model.requests[5])] == [
        *("I am Ada", "A beer", "A cold one", "(set_guest: Done.)", "Two please")
    ]
    assert "last 4 messages" in model.requests[5].texts[-1][1]


async def test_a_message_that_was_acted_on_alone_does_not_travel() -> None:
    gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("set_guest", {"name": "Ada"})),
            says("Never.", until=gate),
            calls("transfer_to_bar"),
            says("A beer, Ada."),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("I am Ada")
        await until(lambda: len(model.requests) == 3)
        talk.user_says_nowait("A beer")
        await talk.answered()

    assert by_user(model.requests[4]) == ["A beer"]


async def test_a_reply_to_several_that_was_interrupted_while_it_spoke_has_answered_none() -> None:
    never = asyncio.Event()
    model = RawModel(["Good evening."], [never], ["So, ", never], ["All three."])

    async with Conversation(hotel(**UNREDACTED), model) as talk:
        talk.user_says_nowait(FIVE[0])
        await until(lambda: len(model.asked) == 2)
        talk.user_says_nowait(FIVE[1])
        await until(lambda: len(model.asked) == 3)
        for _ in range(50):  # until its first words are said
            await asyncio.sleep(0)
        talk.user_says_nowait(FIVE[2])
        await talk.answered()
        said = [(one.text, one.interrupted) for one in talk.events if isinstance(one, Said)]

    assert said == [("Good evening.", False), ("So, ", True), ("All three.", False)]
    assert "last 3 messages" in (model.asked[3].messages()[-1].text_content or "")


FIRST = "The line was cut."


UNREDACTED: dict[str, Any] = {"redact_output": str, "safe_prefix": len}
"""Every word is spoken as it comes: the last one does not wait for what may follow it."""


class Spoken(RawModel):
    """A model that is spoken into: while it is asked, the user says what stands under the number of the request."""

    def __init__(self, said: dict[int, list[str]], *replies: list[Part]) -> None:
        super().__init__(*replies)
        self.said = said
        policy: CallPolicy[Stay, None] = CallPolicy(**UNREDACTED)
        self.call = Call(
            SharedState(Stay(), None), hotel_graph(), policy, preamble=FIRST, resumed=True
        )
        self.events: list[Event] = []
        self.call.subscribe(self.events.append)

    def chat(self, **asked: Any) -> LLMStream:
        self.call.spawn(self._speak(self.said.get(len(self.asked), [])))
        return super().chat(**asked)

    async def _speak(self, words: list[str]) -> None:
        for _ in range(50):  # until what is said first would have been said
            await asyncio.sleep(0)
        for one in words:
            self.call.user_said(one)

    async def answers(self) -> list[str]:
        """Hold the call until everything is answered; returns all that was said."""
        await start_text(self.call, self)
        await until(lambda: any(isinstance(one, YourTurn) for one in self.events))
        await stop(self.call)
        return [one.text for one in self.events if isinstance(one, Said)]

    def shown(self, number: int) -> list[tuple[str, str | None]]:
        """What was said, as a request showed it."""
        return [
            (one.role, text)
            for one in self.asked[number].messages()
            if one.role in ("user", "assistant")
            and not (text := one.text_content or "").startswith(DATA_MARK)
        ]


async def test_what_is_said_first_does_not_answer_the_message_it_was_interrupted_after() -> None:
    never = asyncio.Event()
    model = Spoken({0: FIVE[:1], 1: FIVE[1:2]}, [never], [never], ["Both."])

    assert await model.answers() == [f"{FIRST} Both."]
    assert model.shown(2) == [("user", FIVE[0]), ("user", FIVE[1])]
    assert "last 2 messages" in (model.asked[2].messages()[-1].text_content or "")


async def test_what_is_said_first_does_not_stand_before_what_a_tool_was_called_for() -> None:
    never = asyncio.Event()
    call = ("set_guest", '{"name": "Ada"}', "c")
    model = Spoken({0: FIVE[:3]}, [never], [call], ["All three."])

    assert await model.answers() == [f"{FIRST} All three."]
    assert model.shown(2) == [("user", one) for one in FIVE[:3]]


async def test_a_first_sentence_that_may_not_have_been_read_is_repeated() -> None:
    never = asyncio.Event()
    model = Spoken({0: FIVE[:1]}, ["Welcome", never], ["Two nights."])

    assert await model.answers() == [f"{FIRST} Welcome", f"{FIRST} Two nights."]


async def test_what_is_said_first_is_not_said_again_where_it_was_heard() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights."), says("For Ada.")])

    async with Aloud(model) as talk:
        talk.call.replies.preamble = (
            FIRST  # after the greeting, which the loudspeaker plays to its end
        )
        talk.call.user_said(FIVE[0])
        await until(lambda: talk.speaker.playing)
        talk.call.user_said(FIVE[1])
        await until(lambda: len(model.requests) == 3)
        await talk.hears_out()
        await talk.call.answered()
        said = [(one.text, one.interrupted) for one in talk.of(Said)]

    assert said[1:] == [(f"{FIRST} Two nights.", True), ("For Ada.", False)]


async def test_what_is_said_first_is_said_before_the_words_of_a_model_that_fails() -> None:
    model = Spoken({}, [ValueError("no")])

    assert await model.answers() == [f"{FIRST} {HotelAgent.opening.canned}"]
