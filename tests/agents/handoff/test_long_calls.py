"""A guest who talks to one agent for long: what its model is shown, and what the session keeps."""

from livekit.agents.llm import ChatContext, ChatItem

from agents.handoff import DATA_MARK
from agents.handoff.model_requests import recent_items
from agents.testing import Conversation, ScriptedLLM, Step, calls, says
from tests.agents.hotel import hotel

TURNS = 60


def script() -> list[Step]:
    steps = [says("Good evening.")]
    for number in range(TURNS):
        steps += [calls(("set_guest", {"name": f"Ada {number}"})), says("Noted.")]
    return steps


async def test_what_the_model_is_shown_stops_growing() -> None:
    model = ScriptedLLM(script())

    async with Conversation(hotel(remembers=20), model) as talk:
        for _ in range(TURNS):
            await talk.user_says("I am somebody else")

    sizes = [len(request.texts) for request in model.requests]
    assert max(sizes) <= 22  # the instructions and the digest come on top
    assert sizes[-1] < 4 * TURNS


async def test_what_is_cut_off_leaves_no_answer_without_its_call_and_no_request_without_a_guest() -> (
    None
):
    model = ScriptedLLM(script())

    async with Conversation(hotel(remembers=20), model) as talk:
        for _ in range(TURNS):
            await talk.user_says("I am somebody else")

    for request in model.requests[40:]:
        roles = [role for role, text in request.texts if not text.startswith(DATA_MARK)]
        assert roles[:2] == ["system", "user"]
        assert roles.count("call") == roles.count("output")


async def test_the_beginning_of_a_cut_prompt_stays_the_same_for_some_turns() -> None:
    model = ScriptedLLM(script())

    async with Conversation(hotel(remembers=20), model) as talk:
        for number in range(TURNS):
            await talk.user_says(f"I am somebody else, {number}")

    beginnings = [request.texts[1] for request in model.requests[40:]]
    moved = sum(one != other for one, other in zip(beginnings[1:], beginnings[:-1], strict=True))
    assert 0 < moved < len(beginnings) / 4


def test_a_reply_with_more_tool_calls_than_are_remembered_keeps_the_words_they_answer() -> None:
    context = ChatContext()
    context.add_message(role="system", content="You work in a hotel.")
    context.add_message(role="user", content="Everything, please")
    for number in range(8):
        context.add_message(role="assistant", content=f"step {number}")

    assert recent_items(context.items, 4) == context.items


def test_without_any_words_of_the_guest_nothing_is_cut_off() -> None:
    items: list[ChatItem] = [
        ChatContext().add_message(role="assistant", content=f"{number}") for number in range(9)
    ]

    assert recent_items(items, 4) == items


async def test_the_session_keeps_no_record_of_what_it_told() -> None:
    model = ScriptedLLM(script()[:3])

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("I am Ada")
        kept = talk.call.session._recorded_events

    assert kept == []
