"""A graph that does not hold together is refused before the first call."""

from typing import Literal

import pytest

from agents.handoff import Graph, GraphError, Handoff, Voice, dot, mermaid, outline
from state.shared import Command
from tests.agents.hotel import (
    AddNights,
    Bar,
    Concierge,
    Reception,
    Stay,
    can_go_out,
    hotel_graph,
)

TO_BAR: Handoff[Stay] = Handoff("reception", "bar", when="When thirsty.")


def faults(
    *handoffs: Handoff[Stay],
    voices: tuple[type[Voice[Stay, None]], ...] = (Reception, Bar),
    start: str = "reception",
) -> tuple[str, ...]:
    with pytest.raises(GraphError) as caught:
        Graph(voices, handoffs, start=start)
    return caught.value.faults


def test_a_handoff_to_nobody_is_a_fault() -> None:
    assert "reception -> sauna: 'sauna' is no voice" in faults(
        TO_BAR, Handoff("reception", "sauna", when="")
    )


def test_a_voice_nobody_leads_to_is_a_fault() -> None:
    assert faults() == ("bar can never be reached",)


def test_a_handoff_to_itself_and_one_declared_twice_are_faults() -> None:
    found = faults(TO_BAR, TO_BAR, Handoff("bar", "bar", when=""))

    assert "reception -> bar: declared twice" in found
    assert "bar -> bar: a voice cannot hand over to itself" in found


def test_a_condition_its_voice_cannot_bring_about_is_a_fault() -> None:
    found = faults(
        TO_BAR,
        Handoff("bar", "reception", when="", condition=can_go_out, satisfied_by=(AddNights,)),
    )

    assert found == ("bar -> reception: bar offers none of what would allow it (add_nights)",)


def test_a_condition_without_a_way_to_satisfy_it_is_a_fault() -> None:
    found = faults(Handoff("reception", "bar", when="", condition=can_go_out))

    assert found == ("reception -> bar: its condition names no command that can bring it about",)


def test_a_start_that_is_no_voice_and_two_voices_of_one_name_are_faults() -> None:
    assert "the call starts with 'nobody', which is no voice" in faults(TO_BAR, start="nobody")
    assert "two voices are called 'bar'" in faults(TO_BAR, voices=(Reception, Bar, Bar))


def test_a_voice_that_cannot_open_is_a_fault() -> None:
    class Sauna(Voice[Stay, None]):
        name = "sauna"

    assert faults(voices=(Reception, Sauna)) == ("Sauna has no prompt", "Sauna has no opening")


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

    assert faults(voices=(Sauna,)) == (
        "Sauna: Nameless gives no op to be called by",
        "Sauna: silent has no docstring to tell the model what it is for",
        "Sauna offers add_nights twice",
    )


def test_every_fault_is_listed_at_once() -> None:
    assert len(faults(Handoff("x", "y", when=""), voices=(Reception, Concierge, Bar))) == 4


def test_the_pictures_show_every_voice_and_every_condition() -> None:
    graph = hotel_graph()

    for picture in (mermaid(graph), dot(graph), outline(graph)):
        for word in ("Reception", "Concierge", "Bar", "go out"):
            assert word in picture
    assert mermaid(graph).startswith("flowchart LR")
    assert 'reception -->|"go out"| concierge' in mermaid(graph)
