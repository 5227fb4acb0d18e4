"""Whatever an application's own code raises, the conversation goes on and no agent says anything untrue."""

import asyncio
from typing import Any, ClassVar, Literal, get_args

import pytest
from livekit.agents.llm import ChatItem

from agents.handoff import Action, Call, Event, Graph, Handoff, Read, StateChanged, YourTurn
from agents.handoff.failures import NOT_DONE, failure_text
from agents.handoff.policy import ANSWER_KINDS
from agents.testing import Conversation, ScriptedLLM, calls, says, until
from rpc.page.forms import YourTurnToSpeak
from state.documents.program_faults import place_of
from state.shared import Refused
from tests.agents.hotel import Bar, HotelAgent, Reception, SetGuest, Stay, hotel
from tests.card_digits import has_digits

TROUBLE = "I am sorry, I lost the thread for a moment. Could you say that again?"
CANNED = "Good evening, one moment please."


def broken(*_: object) -> Any:
    """What an application should never have written."""
    raise TypeError("a fault, and this text is secret")


class AskWeather(Read[Stay, None]):
    """The weather."""

    op: Literal["ask_weather"] = "ask_weather"

    def answer(self, state: Stay, context: None) -> str:
        return str(broken())


class GiveUp(Action):
    """An action that something it waits for was cancelled in."""

    op: Literal["give_up"] = "give_up"
    by: ClassVar[type[BaseException]] = asyncio.CancelledError

    async def run(self, call: Call[Any, Any]) -> str:
        raise self.by


class Desk(Reception):
    offers = (*Reception.offers, AskWeather, GiveUp)


class Closed(Bar):
    """A bar that cannot open, the first time."""

    opened: ClassVar[int] = 0

    def _open(self, call: Any, *, handed_over: bool, queued: list[str]) -> None:
        Closed.opened += 1
        self.is_opening = True
        broken()


class Shy(Bar):
    def offers_now(self, state: Stay) -> Any:
        return broken()


class Unbuilt(Bar):
    def __init__(self, graph: Graph[Any], carried: Any = ()) -> None:
        broken()


def a_graph(bar: type[HotelAgent] = Bar, **edge: Any) -> Graph[Stay]:
    return Graph(
        (Desk, bar),
        (
            Handoff("reception", "bar", when="When thirsty.", **edge),
            Handoff("bar", "reception", when="When tired."),
        ),
        start="reception",
    )


@pytest.mark.parametrize("tool", ["ask_weather", "give_up"])
async def test_a_read_that_raises_and_a_tool_that_is_cancelled_inside_are_told_as_nothing_done(
    tool: str,
) -> None:
    model = ScriptedLLM([says("Good evening."), calls(tool), says("I do not know.")])

    async with Conversation(hotel(graph=a_graph()), model) as talk:
        turn = await talk.user_says("How is the weather?")

    assert turn.tools[0].output == "Nothing was changed. internal: Something went wrong inside."
    assert turn.said == ["I do not know."]
    assert len(turn.your_turns) == 1


async def test_a_change_that_cannot_be_told_is_not_denied() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls(("set_guest", {"name": "Ada"})), says("Ada!")]
    )

    async with Conversation(hotel(describe_result=broken), model) as talk:
        turn = await talk.user_says("I am Ada")

    assert talk.state.guest == "Ada"
    assert [tool.output for tool in turn.tools] == ["Done."]


async def test_a_failing_expects_function_does_not_prevent_the_turn_notice() -> None:
    async with Conversation(hotel(expects=broken), ScriptedLLM([says("Good evening.")])) as talk:
        pass

    assert [notice.expects for notice in talk.greeting.your_turns] == ["open"]


@pytest.mark.parametrize("kind", ["colour", None, ["open"]])
async def test_an_unknown_kind_of_answer_is_told_in_the_log_and_counts_as_open(
    kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def expects(*_: object) -> Any:
        return kind

    async with Conversation(hotel(expects=expects), ScriptedLLM([says("Good evening.")])) as talk:
        pass

    assert [notice.expects for notice in talk.greeting.your_turns] == ["open"]
    (record,) = [one for one in caplog.records if one.name == "agents.handoff.user_turns"]
    place = f"{__file__}:{expects.__code__.co_firstlineno}"
    assert record.getMessage().startswith(f"policy.expects ({place}) returned an unknown kind")


def test_the_kinds_of_answer_are_those_that_clients_are_told_of() -> None:
    assert get_args(YourTurnToSpeak.model_fields["expects"].annotation) == ANSWER_KINDS


async def test_a_digest_that_raises_ends_in_words() -> None:
    async with Conversation(hotel(digest=broken), ScriptedLLM([])) as talk:
        turn = await talk.user_says("Hello?")

    assert talk.greeting.said == [CANNED]
    assert turn.said == [TROUBLE]


@pytest.mark.parametrize(
    ("policy", "named"),
    [
        ({"digest": broken}, "policy.digest failed"),
        ({"redact_output": broken}, "policy.redact_output failed"),
    ],
)
async def test_a_reply_that_fails_in_a_function_of_the_policy_names_it(
    policy: dict[str, Any], named: str, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedLLM([] if "digest" in policy else [says("Good evening.")])
    async with Conversation(hotel(**policy), model) as talk:
        pass

    assert [said.strip() for said in talk.greeting.said] == [CANNED]
    (record,) = [one for one in caplog.records if one.name == "agents.handoff.model_requests"]
    assert record.getMessage() == named
    assert record.exc_info is not None
    assert place_of(record.exc_info[2]).endswith(", broken")


class Careless(SetGuest):
    """Store the guest's name, and forget to return the state."""

    op: Literal["careless"] = "careless"  # type: ignore[assignment]

    def apply(self, state: Stay, context: None) -> Any:
        return None


class Letters(SetGuest):
    """Store the guest's name, and return a text for its parts."""

    op: Literal["letters"] = "letters"  # type: ignore[assignment]

    def touches(self, state: Stay) -> Any:
        return "guest"


class Mistaken(Desk):
    offers = (*Desk.offers, Careless, Letters)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (("careless", {"name": "Ada"}), "careless failed: a command made a NoneType of a Stay"),
        (("letters", {"name": "Ada"}), "letters failed: touches of letters returned a text"),
        (
            ("transfer_to_bar", {}),
            "transfer_to_bar failed: the condition of reception -> bar returned bool, not Refused",
        ),
    ],
)
async def test_what_a_function_must_not_return_is_told_in_the_log(
    call: tuple[str, dict[str, object]], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    edge: Any = {"condition": lambda stay: True, "satisfied_by": (SetGuest,)}
    graph = Graph(
        (Mistaken, Bar),
        (
            Handoff("reception", "bar", when="When thirsty.", **edge),
            Handoff("bar", "reception", when="When tired."),
        ),
        start="reception",
    )
    model = ScriptedLLM([says("Good evening."), calls(call), says("I cannot.")])

    async with Conversation(hotel(graph=graph), model) as talk:
        turn = await talk.user_says("I am Ada")

    assert turn.said == ["I cannot."]
    assert talk.state.guest is None
    assert any(f"tool {told}" in record.getMessage() for record in caplog.records)


async def test_a_tool_that_raises_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    model = ScriptedLLM([says("Good evening."), calls("ask_weather"), says("I do not know.")])
    async with Conversation(hotel(graph=a_graph()), model) as talk:
        await talk.user_says("How is the weather?")

    assert "tool ask_weather raised an exception" in caplog.messages


class Unspeakable:
    """A fact that cannot be written: its text raises whatever it is told to."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __str__(self) -> str:
        raise self.error


class Full(SetGuest):
    """Store the guest's name, if there is room."""

    op: Literal["full"] = "full"  # type: ignore[assignment]
    error: ClassVar[type[BaseException]]

    def apply(self, state: Stay, context: None) -> Stay:
        fact: Any = Unspeakable(self.error)
        raise Refused("There is no room.", reason="full", room=fact)


class Crowded(Desk):
    offers = (*Desk.offers, Full)


@pytest.mark.parametrize("error", [SystemExit, RecursionError, type("Odd", (BaseException,), {})])
async def test_a_fact_whose_text_raises_is_left_out_and_the_call_goes_on(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Full, "error", error, raising=False)
    model = ScriptedLLM(
        [
            *(says("Good evening."), calls(("full", {"name": "Ada"})), says("We are full.")),
            says("You are welcome."),
        ]
    )

    graph = Graph((Crowded,), (), start="reception")
    async with Conversation(hotel(graph=graph), model) as talk:
        turn = await talk.user_says("I am Ada")
        assert [tool.output for tool in turn.tools] == [
            "Nothing was changed. full: There is no room."
        ]
        assert turn.said == ["We are full."]
        assert (await talk.user_says("Thank you")).said == ["You are welcome."]


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError])
def test_an_interrupt_while_a_fact_is_written_is_raised_on(error: type[BaseException]) -> None:
    fact: Any = Unspeakable(error)
    with pytest.raises(error):
        failure_text(Refused("There is no room.", room=fact), NOT_DONE, "full")


async def test_words_that_cannot_be_redacted_are_dropped_and_asked_for_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Conversation(
        hotel(redact_input=broken), ScriptedLLM([says("Good evening.")])
    ) as talk:
        talk.call.user_said("4111 1111 1111 1111")
        await until(lambda: TROUBLE in str(list(talk.events)))
        history = talk.call.session.history.to_dict()

    assert talk.call.turn == 0
    assert not has_digits("4111", f"{list(talk.events)} {history}")
    assert "policy.redact_input failed" in caplog.text


async def test_a_listener_that_raises_harms_neither_the_call_nor_other_listeners() -> None:
    call = hotel()
    call.subscribe(broken)
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("add_nights", {"nights": 1}), "transfer_to_bar"),
            says("Yes?"),
        ]
    )

    async with Conversation(call, model) as talk:
        turn = await talk.user_says("A night, a beer")

    assert turn.said == ["Yes?"]
    assert isinstance(turn.events[-1], YourTurn)


async def test_a_listener_that_left_hears_nothing_more_and_may_leave_twice() -> None:
    call = hotel()
    seen: list[Event] = []
    leave = call.subscribe(seen.append)

    async with Conversation(call, ScriptedLLM([says("Good evening."), says("Yes?")])) as talk:
        leave()
        leave()
        before = len(seen)
        await talk.user_says("Hello?")

    assert len(seen) == before > 0


async def test_a_voice_that_cannot_open_says_its_canned_line_and_works_from_then_on() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_bar"),
            calls("transfer_to_reception"),
            says("Here again."),
        ]
    )

    async with Conversation(hotel(graph=a_graph(Closed)), model) as talk:
        turn = await talk.user_says("A beer")
        after = await talk.user_says("Then a room")

    assert turn.said == [CANNED]
    assert turn.handoffs == [("reception", "bar")]
    assert len(turn.your_turns) == 1
    assert after.handoffs == [("bar", "reception")]
    assert after.said == ["Here again."]


async def test_a_voice_that_does_not_know_what_it_offers_speaks_its_canned_line() -> None:
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar")])

    async with Conversation(hotel(graph=a_graph(Shy)), model) as talk:
        turn = await talk.user_says("A beer")

    assert turn.said == [CANNED]
    assert len(turn.your_turns) == 1


def broken_carry(items: Any) -> list[ChatItem]:
    broken()
    return []


@pytest.mark.parametrize(
    "graph",
    [
        lambda: a_graph(Unbuilt),
        lambda: a_graph(carry=broken_carry),
        lambda: a_graph(condition=broken, satisfied_by=(SetGuest,)),
    ],
    ids=["agent", "carry", "condition"],
)
async def test_a_handoff_whose_own_code_raises_does_not_happen_and_the_old_voice_says_so(
    graph: Any,
) -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls("transfer_to_bar"), says("The bar is closed."), says("Yes?")]
    )

    async with Conversation(hotel(graph=graph()), model) as talk:
        turn = await talk.user_says("A beer")
        after = await talk.user_says("Still here?")

    assert [one.reason for one in turn.refused] == ["internal"]
    assert "secret" not in str(model.requests[2].texts)
    assert turn.said == ["The bar is closed."]
    assert not any(isinstance(event, StateChanged) for event in turn.events)
    assert after.said == ["Yes?"]
