"""Promise 5: the next agent knows what it must know, in a prompt that does not grow."""

import pytest
from livekit.agents.llm import ChatItem, ChatMessage, FunctionCall, FunctionCallOutput

from agents.handoff import DATA_MARK, carry
from agents.testing import Conversation, Request, ScriptedLLM, calls, says
from tests.agents.hotel import Stay, hotel


def digests(request: Request) -> list[int]:
    return [at for at, (_, text) in enumerate(request.texts) if text.startswith(DATA_MARK)]


async def test_the_state_is_shown_once_as_data_before_the_guests_last_words() -> None:
    model = ScriptedLLM([says("Good evening."), says("It is 120."), says("Yes.")])

    async with Conversation(hotel(Stay(guest="Ada")), model) as talk:
        await talk.user_says("What is it?")
        await talk.user_says("Really?")

    for request in model.requests:
        assert len(digests(request)) == 1
    at = digests(model.requests[2])[0]
    assert model.requests[2].texts[at][0] == "user"
    assert "Ada" in model.requests[2].texts[at][1]
    assert model.requests[2].texts[at + 1] == ("user", "Really?")


async def test_after_a_tool_the_model_sees_the_new_state() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls(("set_guest", {"name": "Grace"})), says("Grace!")]
    )

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("I am Grace")

    shown = [model.requests[2].texts[at][1] for at in digests(model.requests[2])]
    assert len(shown) == 1
    assert "Grace" in shown[0]


async def test_the_guests_last_words_travel_and_the_rest_does_not() -> None:
    model = ScriptedLLM(
        [says("Good evening."), says("Rain, all day."), calls("transfer_to_bar"), says("A beer.")]
    )

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("How is the weather?")
        await talk.user_says("Then a beer please")

    said = [text for _, text in model.requests[3].texts]
    assert "Then a beer please" in said
    assert not any("weather" in text or "Rain" in text for text in said)


async def test_a_voice_that_took_over_may_act_on_the_words_but_not_hand_over_again() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_bar"),
            calls(("set_guest", {"name": "Ada"})),
            says("A beer for Ada."),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Ada here, a beer please")

    assert talk.state.guest == "Ada"
    assert turn.said == ["A beer for Ada."]
    assert set(model.requests[2].tools) == {"set_guest", "end_call"}


async def test_the_greeting_offers_no_tools() -> None:
    model = ScriptedLLM([says("Good evening.")])

    async with Conversation(hotel(), model):
        pass

    assert model.requests[0].tools == ()


def history() -> list[ChatItem]:
    return [
        ChatMessage(role="user", content=["one"]),
        ChatMessage(role="assistant", content=["two"]),
        FunctionCall(call_id="a", name="ask_rate", arguments="{}"),
        FunctionCallOutput(call_id="a", name="ask_rate", output="120", is_error=False),
        ChatMessage(role="user", content=["three"]),
    ]


def texts(items: list[ChatItem]) -> list[str | None]:
    return [item.text_content for item in items if item.type == "message"]


def test_each_policy_carries_what_it_says() -> None:
    items = history()

    assert texts(carry.nothing()(items)) == []
    assert texts(carry.digest()(items)) == ["three"]
    assert texts(carry.last(2)(items)) == ["two", "three"]
    assert texts(carry.full()(items)) == ["one", "two", "(ask_rate: 120)", "three"]
    assert texts(carry.last(0)(items)) == []


def test_a_history_without_guest_words_carries_none() -> None:
    assert carry.digest()([ChatMessage(role="assistant", content=["hello"])]) == []


def test_unanswered_words_before_the_last_are_carried_too() -> None:
    refused = FunctionCallOutput(call_id="b", name="ask_rate", output="No.", is_error=True)
    later: list[ChatItem] = [refused, ChatMessage(role="user", content=["four"])]

    assert texts(carry.digest()([*history(), *later])) == ["three", "four"]


def said(text: str, *, cut: bool = False) -> ChatItem:
    return ChatMessage(role="assistant", content=[text], interrupted=cut)


def user(text: str) -> ChatItem:
    return ChatMessage(role="user", content=[text])


CALL = FunctionCall(call_id="c", name="set_guest", arguments="{}")
DONE = FunctionCallOutput(call_id="c", name="set_guest", output="Done.", is_error=False)
SEVERAL: list[list[ChatItem]] = [
    [user("one"), user("two"), said("So", cut=True), user("three")],
    [user("one"), user("two"), said("One moment."), CALL, DONE, user("three")],
    [user("one"), user("two"), CALL, DONE, said("So", cut=True), user("three")],
    [user("one"), user("two"), said("So", cut=True), user("three"), said("Well", cut=True)],
]


@pytest.mark.parametrize("items", SEVERAL)
def test_messages_whose_reply_did_not_come_to_its_end_travel_together(
    items: list[ChatItem],
) -> None:
    before = [user("zero"), said("It is 120.")]
    carried = [text for text in texts(carry.digest()([*before, *items])) if text is not None]

    assert [text for text in carried if not text.startswith("(")] == ["one", "two", "three"]
    assert ("(set_guest: Done.)" in carried) == (DONE in items)


@pytest.mark.parametrize("cut", [False, True])
def test_one_message_is_answered_by_what_was_said_to_it(*, cut: bool) -> None:
    items = [user("one"), said("So", cut=cut), user("two")]

    assert texts(carry.digest()(items)) == ["two"]
