"""A graph that does not hold together is refused before the first call."""

from asyncio import sleep
from collections.abc import Coroutine
from typing import Any, ClassVar, Literal

import pytest

from agents.handoff import (
    Action,
    Agent,
    Call,
    EndCall,
    Graph,
    GraphError,
    Handoff,
    Read,
    dot,
    mermaid,
    outline,
    tool_name,
)
from state.shared import Command, HandOver
from tests.agents.hotel import (
    AddNights,
    AskRate,
    Bar,
    Concierge,
    HotelAgent,
    Reception,
    SetGuest,
    Stay,
    can_go_out,
    hotel_graph,
)

TO_BAR: Handoff[Stay] = Handoff("reception", "bar", when="When thirsty.")


def faults(
    *handoffs: Handoff[Stay],
    agents: tuple[type[Agent[Stay, None]], ...] = (Reception, Bar),
    start: str = "reception",
) -> tuple[str, ...]:
    with pytest.raises(GraphError) as caught:
        Graph(agents, handoffs, start=start)
    return caught.value.faults


def test_a_handoff_to_an_unknown_agent_is_a_fault() -> None:
    assert "reception -> sauna: 'sauna' is not an agent" in faults(
        TO_BAR, Handoff("reception", "sauna", when="At once.")
    )


@pytest.mark.parametrize(
    ("agents", "handoffs", "told"),
    [
        ((Reception(()),), (), "agents takes the classes of agents, not <"),
        (Reception, (), "agents is not a tuple: Reception"),
        (("reception",), (), "agents takes the classes of agents, not 'reception'"),
        ((Reception, Bar), TO_BAR, "handoffs is not a tuple: Handoff(source='reception'"),
        ((Reception, Bar), (("reception", "bar"),), "handoffs takes Handoff(...), with the names"),
        ((Reception, Bar), (Handoff,), "handoffs takes Handoff(...), with the names"),
        (
            (Reception, Bar),
            (Handoff(Reception, Bar, when="At once."),),  # type: ignore[arg-type]
            "handoffs takes Handoff(...)",
        ),
        (
            (Reception, Bar),
            (Handoff("reception", "bar", when="At once.", carry="last"),),  # type: ignore[arg-type]
            "reception -> bar: its carry is not a function: 'last'",
        ),
    ],
)
def test_what_is_no_agent_and_no_handoff_is_a_fault(agents: Any, handoffs: Any, told: str) -> None:
    with pytest.raises(GraphError) as caught:
        Graph(agents, handoffs, start="reception")

    (fault,) = caught.value.faults
    assert fault.startswith(told)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"opening": "Hello"}, "its opening has to be Opening(...) with a canned sentence"),
        ({"prompt": 5}, "its prompt is neither a text nor a function: 5"),
        ({"needs_answer": 5}, "needs_answer is not a mapping: 5"),
    ],
)
def test_an_agent_whose_attributes_have_another_type_is_a_fault(given: Any, told: str) -> None:
    assert faults_of_sauna(**given) == (f"Sauna: {told}",)


def test_an_unreachable_agent_is_a_fault() -> None:
    assert faults() == ("bar is unreachable",)


def test_a_handoff_to_itself_and_one_declared_twice_are_faults() -> None:
    found = faults(TO_BAR, TO_BAR, Handoff("bar", "bar", when="At once."))

    assert "reception -> bar: declared twice" in found
    assert "bar -> bar: an agent cannot hand over to itself" in found


def test_a_handoff_that_does_not_tell_the_model_when_is_a_fault() -> None:
    assert faults(Handoff("reception", "bar", when=" ")) == (
        "reception -> bar: its when is empty: tell the model when to hand over",
    )


def test_a_condition_its_voice_cannot_bring_about_is_a_fault() -> None:
    found = faults(
        TO_BAR,
        Handoff(
            "bar", "reception", when="At once.", condition=can_go_out, satisfied_by=(AddNights,)
        ),
    )

    assert found == (
        "bar -> reception: bar offers none of the commands in satisfied_by (add_nights)",
    )


def test_a_condition_without_a_way_to_satisfy_it_is_a_fault() -> None:
    found = faults(Handoff("reception", "bar", when="At once.", condition=can_go_out))

    assert found == ("reception -> bar: it has a condition and no satisfied_by",)


def test_a_start_that_is_no_voice_and_two_voices_of_one_name_are_faults() -> None:
    assert "the call starts with 'nobody', which is not an agent" in faults(TO_BAR, start="nobody")
    assert "two agents are called 'bar'" in faults(TO_BAR, agents=(Reception, Bar, Bar))


def test_a_voice_that_cannot_open_is_a_fault() -> None:
    class Sauna(Agent[Stay, None]):
        name = "sauna"

    assert faults(Handoff("reception", "sauna", when="At once."), agents=(Reception, Sauna)) == (
        "Sauna has no prompt",
        "Sauna has no opening",
    )


def test_a_tool_that_no_model_could_use_is_a_fault() -> None:
    class Nameless(Command[Stay, None]):
        """It has no name."""

        def apply(self, state: Stay, context: None) -> Stay:
            return state

    class Silent(Nameless):
        op: Literal["silent"] = "silent"

    class Sauna(Reception):
        name = "sauna"
        offers = (Nameless, Silent, AddNights, AddNights)

    assert faults(agents=(Sauna,), start="sauna") == (
        "Sauna: Nameless has no default op, which is the tool's name",
        "Sauna: silent has no docstring to tell the model what it is for",
        "Sauna offers add_nights twice",
    )


def sauna(*tools: Any, **more: Any) -> type[Agent[Stay, None]]:
    """An agent that is as it should be, but for what it is given here."""
    return type("Sauna", (HotelAgent,), {"name": "sauna", "offers": tools, **more})


def faults_of_sauna(*tools: Any, **more: Any) -> tuple[str, ...]:
    agent = sauna(*tools, **more)
    return faults(agents=(agent,), start=agent.name)


def named(op: str) -> type[Command[Stay, None]]:
    """A command that differs from a good one in its name only."""
    return type(
        "Named", (AddNights,), {"__doc__": "Do it.", "op": op, "__annotations__": {"op": str}}
    )


@pytest.mark.parametrize("op", ["add nights", "add.nights", "zimmer_für_zwei", "", "a" * 65, "a\n"])
def test_a_tool_whose_name_providers_refuse_is_a_fault(op: str) -> None:
    assert faults_of_sauna(named(op)) == (
        f"Sauna: Named is called {op!r}: providers take letters, digits, - and _, and at most 64"
        " of them",
    )


@pytest.mark.parametrize("op", ["add-nights", "addNights", "a" * 64])
def test_a_tool_may_have_any_name_that_providers_take(op: str) -> None:
    graph = Graph((sauna(named(op)),), (), start="sauna")

    assert [tool.id for tool in graph.agent("sauna").tools] == [op]


@pytest.mark.parametrize(
    "name", ["Sauna", "the sauna", "the-sauna", "", "a" * 53, "sauna\n", "2nd"]
)
def test_a_voice_whose_name_is_not_in_lower_snake_case_is_a_fault(name: str) -> None:
    assert faults_of_sauna(name=name) == (
        f"Sauna is called {name!r}: an agent's name is in lower snake case, and no longer than 52"
        " characters",
    )


def test_the_longest_name_of_a_voice_still_makes_a_transfer_that_providers_take() -> None:
    handoff: Handoff[Stay] = Handoff("reception", "a" * 52, when="At once.")

    graph = Graph((Reception, sauna(name="a" * 52)), (handoff,), start="reception")

    assert len(graph.leaving("reception")[0].tool_name) == 64


def test_a_voice_without_a_name_is_a_fault_and_hides_no_other() -> None:
    class Sauna(HotelAgent):
        pass

    assert faults(TO_BAR, TO_BAR, agents=(Reception, Bar, Sauna)) == (
        "Sauna has no name",
        "reception -> bar: declared twice",
    )


def test_a_tool_that_is_called_as_a_handoff_of_its_voice_is_a_fault() -> None:
    handoff: Handoff[Stay] = Handoff("sauna", "bar", when="When thirsty.")
    agents = (sauna(named("transfer_to_bar")), Bar)

    assert faults(handoff, agents=agents, start="sauna") == (
        "Sauna: transfer_to_bar is the name of a tool and of a handoff",
    )
    assert faults(TO_BAR, handoff, agents=(Reception, *agents)) == (
        "Sauna: transfer_to_bar is the name of a tool and of a handoff",
        "sauna is unreachable",
    )


class Unmade(Command[Stay, None]):
    """Change something."""

    op: Literal["unmade"] = "unmade"


class Unanswered(Read[Stay, None]):
    """Ask something."""

    op: Literal["unanswered"] = "unanswered"


class Undone(Action):
    """Do something."""

    op: Literal["undone"] = "undone"


@pytest.mark.parametrize(
    ("tool", "what"), [(Unmade, "apply"), (Unanswered, "answer"), (Undone, "run")]
)
def test_a_tool_that_does_nothing_of_its_own_is_a_fault(tool: Any, what: str) -> None:
    assert faults_of_sauna(tool) == (f"Sauna: {tool_name(tool)} does not implement {what}",)


class AsyncUnmade(Unmade):
    """Change something."""

    async def apply(self, state: Stay, context: None) -> Stay:  # type: ignore[override]
        return state


class AsyncAnswer(Unanswered):
    """Ask something."""

    async def answer(self, state: Stay, context: None) -> str:  # type: ignore[override]
        return "Yes."


class PlainRun(Undone):
    """Do something."""

    def run(self, call: Call[Stay, None]) -> str:  # type: ignore[override]
        return "Done."


class RunByAnother(Undone):
    """Do something."""

    def run(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, call: Call[Stay, None]
    ) -> Coroutine[Any, Any, str]:
        return sleep(0, "Done.")


@pytest.mark.parametrize(
    ("tool", "fault"),
    [
        (AsyncUnmade, "unmade: apply is an async function: it may not wait"),
        (AsyncAnswer, "unanswered: answer is an async function: it may not wait"),
        (PlainRun, "undone: run has to be an async function"),
    ],
)
def test_a_tool_that_waits_where_it_may_not_or_the_other_way_is_a_fault(
    tool: Any, fault: str
) -> None:
    assert faults_of_sauna(tool) == (f"Sauna: {fault}",)


def test_a_run_that_returns_what_can_be_awaited_is_no_fault() -> None:
    assert Graph((sauna(RunByAnother),), (), start="sauna").offers("sauna") == (RunByAnother,)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (3, "3"),
        ("add_nights", "'add_nights'"),
        (SetGuest(name="Ada"), "SetGuest(op='set_guest', name='Ada')"),
        (Stay, "Stay"),
        (None, "None"),
    ],
)
def test_something_offered_that_is_no_tool_is_a_fault(given: Any, shown: str) -> None:
    assert faults_of_sauna(AddNights, given) == (
        f"Sauna: {shown} is not a tool: tools are subclasses of Command, Read or Action",
    )


def test_one_tool_without_its_comma_is_a_fault_and_no_riddle() -> None:
    without_comma: Any = AddNights
    handoff = Handoff(
        "reception", "bar", when="At once.", condition=can_go_out, satisfied_by=without_comma
    )

    assert faults_of_sauna(offers=without_comma) == (
        "Sauna: offers is not a tuple of tools: add_nights",
    )
    assert faults(handoff) == (
        "reception -> bar: satisfied_by is not a tuple of tools: add_nights",
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("add_nights",), "takes the classes of tools, not 'add_nights'"),
        ("add_nights", "is not a tuple of tools: 'add_nights'"),
    ],
)
def test_a_condition_is_satisfied_by_tools_and_not_by_their_names(given: Any, told: str) -> None:
    handoff = Handoff("reception", "bar", when="At once.", condition=can_go_out, satisfied_by=given)

    assert faults(handoff) == (f"reception -> bar: satisfied_by {told}",)


def test_the_frameworks_own_change_of_voice_is_no_tool() -> None:
    assert faults_of_sauna(HandOver) == (
        "Sauna: hand_over is reserved for the framework: declare a Handoff instead",
    )


@pytest.mark.parametrize("op", ["set_gust", "add_nights", "ask_rate"])
def test_needs_answer_of_a_tool_that_the_agent_does_not_offer_is_a_fault(op: str) -> None:
    guarded = sauna(SetGuest, AskRate, EndCall, needs_answer={op: ("set_guest",)})

    found = faults(agents=(guarded, Reception), start="sauna")

    assert found[0] == f"Sauna: needs_answer lists {op}, which is not a command or action it offers"


def test_needs_answer_to_a_tool_that_no_agent_offers_is_a_fault() -> None:
    waits: dict[str, Any] = {"set_guest": ("add_night", "end_cal", "set_guest"), "add_nights": "x"}

    assert faults_of_sauna(SetGuest, AddNights, EndCall, needs_answer=waits) == (
        "Sauna: needs_answer of set_guest lists 'add_night', which is not a tool that any agent"
        " offers",
        "Sauna: needs_answer of set_guest lists 'end_cal', which is not a tool that any agent"
        " offers",
        "Sauna: needs_answer of add_nights is not a tuple of ops: 'x'",
    )


def test_a_voice_may_wait_for_the_answer_to_what_another_did() -> None:
    class Patient(Bar):
        needs_answer: ClassVar = {"set_guest": ("add_nights",)}

    assert Graph((Reception, Patient), (TO_BAR,), start="reception").agents["bar"] is Patient


def test_every_fault_is_listed_at_once() -> None:
    assert len(faults(Handoff("x", "y", when="At once."), agents=(Reception, Concierge, Bar))) == 4
    assert len(faults(TO_BAR, TO_BAR, agents=(Reception, Bar, sauna(3, named("a b"))))) == 4


def test_the_pictures_show_every_voice_and_every_condition() -> None:
    graph = hotel_graph()

    for picture in (mermaid(graph), dot(graph), outline(graph)):
        for word in ("Reception", "Concierge", "Bar", "go out"):
            assert word in picture
    assert mermaid(graph).startswith("flowchart LR")
    assert 'reception -->|"go out"| concierge' in mermaid(graph)


def test_the_message_lists_all_faults() -> None:
    with pytest.raises(GraphError) as caught:
        Graph((Reception,), (Handoff("reception", "reception", when="At once."),), start="bar")

    assert str(caught.value) == "\n".join(caught.value.faults)
    assert str(caught.value).startswith(
        "the call starts with 'bar', which is not an agent\nreception"
    )
