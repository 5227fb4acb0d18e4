"""A call's session behaves as livekit's does towards other code: its events and its usage."""

from typing import Any

from livekit.agents import AgentSession
from livekit.agents.llm import LLMStream, RawFunctionTool, Tool
from livekit.agents.metrics import LLMModelUsage

from agents.handoff import Graph, Handoff
from agents.testing import Conversation, ScriptedLLM, says
from tests.agents.hotel import Bar, HotelAgent, Stay, hotel


async def test_handlers_of_other_code_are_called_as_livekit_calls_them() -> None:
    seen: list[object] = []
    model = ScriptedLLM([says("Good evening."), says("Yes?"), says("And now?")])

    async with Conversation(hotel(), model) as talk:
        session = talk.call.session

        def without_the_event() -> None:
            seen.append("no event")

        session.on("conversation_item_added", without_the_event)
        turn = await talk.user_says("hello")
        session.off("conversation_item_added", without_the_event)
        session.on("conversation_item_added", lambda event: seen.append(event.item.role))
        other = await talk.user_says("hello again")

    assert seen == ["no event", "no event", "user", "assistant"]
    assert (turn.said, other.said) == (["Yes?"], ["And now?"])


async def test_the_usage_is_what_livekit_reports_and_a_copy() -> None:
    model = ScriptedLLM([says("Good evening.", cost=(100, 5, 7)), says("Yes?", cost=(120, 6, 90))])

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("hello")
        session = talk.call.session
        own, livekits = session.usage, AgentSession.usage.__get__(session)
        copied = session.usage.model_usage[0]
        assert isinstance(copied, LLMModelUsage)
        copied.input_tokens = 0

        assert own == livekits == session.usage
        assert (own.model_usage[0].provider, own.model_usage[0].model) == ("testing", "scripted")


class Attic(HotelAgent):
    name = "attic"


class Descriptions(ScriptedLLM):
    """Notes how the last tool of its last request was described."""

    last = ""

    def chat(self, *, tools: list[Tool] | None = None, **how: Any) -> LLMStream:
        if tools:  # an opening has none
            assert isinstance(tools[-1], RawFunctionTool)
            self.last = tools[-1].info.raw_schema["description"]
        return super().chat(tools=tools, **how)


async def test_one_class_of_agents_offers_what_each_of_two_graphs_declares() -> None:
    async def offered(when: str) -> str:
        edge: Handoff[Stay] = Handoff("bar", "attic", when=when)
        graph = Graph((Bar, Attic), (edge,), start="bar")
        model = Descriptions([says("Hello."), says("Yes?")])
        async with Conversation(hotel(graph=graph), model) as talk:
            await talk.user_says("hello")
        return model.last

    assert await offered("When it is cold.") == "When it is cold."
    assert await offered("When it is late.") == "When it is late."
