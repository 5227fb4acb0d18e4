"""What the local model sees of a request."""

from livekit.agents.llm import ChatContext, ChatItem, ChatMessage, FunctionCall, FunctionCallOutput

from agents.handoff import DATA_MARK
from bella_vista.local.scene import scene_of

RULES = ChatMessage(role="system", content=["# Order taker\n\nYou take the order down."])
ORDER = ChatMessage(role="user", content=[f'{DATA_MARK} {{"version":3,"stage":"open"}}'])


def guest(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=[text])


def agent(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=[text])


def seen(*items: ChatItem) -> ChatContext:
    return ChatContext(list(items))


def test_the_agent_is_read_from_the_head_of_the_instructions() -> None:
    assert scene_of(seen(RULES, ORDER), frozenset()).agent == "order_taker"


def test_the_order_is_data_and_no_words_of_the_guest() -> None:
    scene = scene_of(seen(RULES, agent("Yes?"), ORDER, guest("two colas")), frozenset())

    assert scene.order == {"version": 3, "stage": "open"}
    assert scene.guest is not None
    assert scene.guest.text == "two colas"
    assert [words.text for words in scene.dialogue] == ["Yes?", "two colas"]


def test_a_refusal_is_read_with_its_code_and_facts() -> None:
    call = FunctionCall(call_id="a", name="add_item", arguments='{"name": "Lemonade"}')
    output = FunctionCallOutput(
        call_id="a",
        name="add_item",
        output='Nothing was changed. sold_out: No {braces} today. {"name": "Lemonade", "near": []}',
        is_error=True,
    )

    (outcome,) = scene_of(
        seen(RULES, ORDER, guest("a lemonade"), call, output), frozenset()
    ).outcomes

    assert (outcome.code, outcome.message) == ("sold_out", "No {braces} today.")
    assert outcome.facts["name"] == "Lemonade"
    assert outcome.arguments == {"name": "Lemonade"}
    assert not outcome.done


def test_only_what_happened_since_the_guest_spoke_counts() -> None:
    call = FunctionCall(call_id="a", name="add_item", arguments="{}")
    output = FunctionCallOutput(call_id="a", name="add_item", output="Done.", is_error=False)

    scene = scene_of(
        seen(RULES, guest("a cola"), call, output, agent("Noted."), ORDER, guest("that is all")),
        frozenset(),
    )

    assert scene.outcomes == ()
    assert scene.last_said == "Noted."
    before = scene.before_last_said()
    assert before is not None
    assert before.text == "a cola"


def test_a_voice_that_has_not_spoken_opens() -> None:
    assert scene_of(seen(RULES, ORDER, guest("hello")), frozenset()).opening
    assert not scene_of(seen(RULES, agent("Hello."), ORDER, guest("hi")), frozenset()).opening


def test_a_broken_digest_is_no_order_and_no_crash() -> None:
    broken = ChatMessage(role="user", content=[f"{DATA_MARK} {{not json"])

    assert scene_of(seen(RULES, broken), frozenset()).order == {}


def test_outcomes_are_kept_for_a_message_that_was_acted_on_without_a_reply() -> None:
    call = FunctionCall(call_id="a", name="add_item", arguments='{"name": "Cola"}')
    done = FunctionCallOutput(call_id="a", name="add_item", output="Done.", is_error=False)
    refused = FunctionCallOutput(call_id="a", name="add_item", output="No.", is_error=True)
    read = FunctionCallOutput(call_id="a", name="tell", output="At ten.", is_error=False)

    for output, kept in ((done, 1), (refused, 0), (read, 0)):
        cola, beer = guest("a cola"), guest("and a beer")
        scene = scene_of(seen(RULES, ORDER, cola, call, output, beer), frozenset())
        assert [words.text for words in scene.waiting] == ["a cola", "and a beer"]
        assert len(scene.answered[cola.id]) == kept
        assert scene.outcomes == scene.answered[beer.id] == ()


def test_a_tool_belongs_to_the_message_that_its_call_names() -> None:
    cola, beer = guest("a cola"), guest("a beer")
    named = FunctionCall(call_id=f"local_1_0-{cola.id}", name="add_item", arguments="{}")
    other = FunctionCall(call_id="call_7", name="add_item", arguments="{}")

    scene = scene_of(
        seen(RULES, ORDER, cola, beer, named, answer(named), other, answer(other)), frozenset()
    )

    assert [len(scene.answered[one.id]) for one in (cola, beer)] == [1, 1]


def answer(call: FunctionCall) -> FunctionCallOutput:
    return FunctionCallOutput(call_id=call.call_id, name=call.name, output="Done.", is_error=False)


def test_a_handoff_that_the_guest_interrupted_was_not_tried() -> None:
    told = (
        "Not handed over. interrupted: The guest spoke on before that.",
        "the agent handoff was interrupted and did not happen",
    )
    for output in told:
        words, more = guest("a cola"), guest("and a beer")
        call = FunctionCall(call_id=f"x-{words.id}", name="transfer_to_bar", arguments="{}")
        refused = FunctionCallOutput(
            call_id=call.call_id, name=call.name, output=output, is_error=True
        )
        for items in ((words, call, refused, more), (words, more, call, refused)):
            scene = scene_of(seen(RULES, ORDER, *items), frozenset())
            assert [scene.answered[one.id] for one in (words, more)] == [(), ()]


def test_a_reply_to_several_messages_that_was_cut_short_answers_none_of_them() -> None:
    cut = ChatMessage(role="assistant", content=["I am sorry, we were cut"], interrupted=True)
    messages = [guest("a cola"), guest("a tea"), cut, guest("a coffee")]

    scene = scene_of(seen(RULES, ORDER, agent("Yes?"), *messages), frozenset())

    assert [words.text for words in scene.waiting] == ["a cola", "a tea", "a coffee"]
    assert scene.said == ("I am sorry, we were cut", "Yes?")


def test_a_reply_to_one_message_that_was_cut_short_has_answered_it() -> None:
    cut = ChatMessage(role="assistant", content=["That makes"], interrupted=True)

    scene = scene_of(seen(RULES, ORDER, guest("a cola"), cut, guest("a coffee")), frozenset())

    assert [words.text for words in scene.waiting] == ["a coffee"]
