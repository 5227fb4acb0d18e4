"""The applications that are measured, each as ours and as written by hand, and what is said in them.

The hotel of the tests is small: what it costs is the framework's. The restaurant and the clinic are the real
ones, with their agents, their instructions and all their tools.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from livekit.agents import Agent

from agents.handoff import Call
from agents.testing import Step, calls, says
from examples.clinic.app import APP as CLINIC_APP
from examples.clinic.clinic import Clinic
from examples.clinic.tests.kit import MARY, Front
from examples.clinic.visit import ClinicState
from state.shared import Journal, SharedState
from tests.agents.hotel import hotel
from tests.agents.restaurant import restaurant
from tests.benchmarks.by_hand import clinic as clinic_by_hand
from tests.benchmarks.by_hand import hotel as hotel_by_hand
from tests.benchmarks.by_hand import restaurant as restaurant_by_hand
from tests.benchmarks.played import PlayedLLM
from tests.benchmarks.sides import ByHand, GuestTurn, Ours, script

EACH = 6
"""How many turns of each kind one measured call has."""

WARM = "warm"
"""The kind of the turns that a call begins with: what is done for the first time in it counts for nothing."""


@dataclass(frozen=True)
class Application:
    """One application on both sides.

    Args:
        name: What it is called in the tables.
        call: Makes a call of ours, with a journal or in memory.
        agent: Makes the hand-written agent that greets.
        data: Makes what the hand-written agents share.
        greeting: What the model says first.
        turns: A call with several turns of each kind.
        endless: A turn that changes something and can be said again and again, by its number.
        share: The part of the rounds that it is measured in.
    """

    name: str
    call: Callable[[Journal | None], Call[Any, Any]]
    agent: Callable[[], Agent]
    data: Callable[[], object]
    greeting: Step
    turns: tuple[GuestTurn, ...]
    endless: Callable[[int], GuestTurn]
    share: float = 1.0

    def ours(self, steps: Iterable[Step], journal: Journal | None = None) -> Ours:
        """One conversation of ours."""
        return Ours(self.call(journal), PlayedLLM(steps))

    def by_hand(self, steps: Iterable[Step]) -> ByHand:
        """One conversation written by hand."""
        return ByHand(self.agent(), self.data(), PlayedLLM(steps))

    def script(self, turns: Sequence[GuestTurn] | None = None) -> list[Step]:
        """What the model does in a call."""
        return script(self.greeting, self.turns if turns is None else turns)


def text(words: str, answer: str) -> GuestTurn:
    """A turn that is only talk."""
    return GuestTurn("text", words, (says(answer),))


LONG_REPLY = (
    "So that is two large Margheritas without basil, one tiramisu and a glass of house red. You can pick it"
    " up at 7:20 pm at the corner of Bleecker and Mott. The total is $51.17 with tax. For the wine we ask"
    " for proof of age at the counter. Garlic knots go well with it, they are six in a basket and come with"
    " a tomato dip. We are open until half past midnight, so there is no hurry at all. "
)


def long_text(words: str) -> GuestTurn:
    """A turn that is only talk, with a long answer that streams in."""
    return GuestTurn("long reply", words, (says(LONG_REPLY),))


def tool(words: str, called: str, answer: str, /, **given: Any) -> GuestTurn:
    """A turn in which the model calls one tool."""
    return GuestTurn("tool", words, (calls((called, given)), says(answer)))


def handoff(words: str, target: str, opening: str) -> GuestTurn:
    """A turn in which the guest is handed over."""
    return GuestTurn("handoff", words, (calls(f"transfer_to_{target}"), says(opening)))


def warm(*turns: GuestTurn) -> tuple[GuestTurn, ...]:
    """Take turns that nothing is measured by."""
    return tuple(GuestTurn(WARM, turn.words, turn.steps) for turn in turns)


def _there_and_back(there: str, back: str) -> tuple[GuestTurn, ...]:
    return tuple(handoff("And now?", target, "Here I am.") for target in (there, back))


_HOTEL_TALK = (
    text("How is the weather?", "It is sunny."),
    long_text("Tell me everything"),
    tool("I am Ada", "set_guest", "Noted.", name="Ada"),
)
HOTEL = Application(
    name="hotel",
    call=lambda journal: hotel(journal=journal),
    agent=hotel_by_hand.Reception,
    data=hotel_by_hand.Stay,
    greeting=says("Good evening."),
    turns=(
        *warm(*_HOTEL_TALK, *_there_and_back("bar", "reception")),
        *(turn for _ in range(EACH) for turn in _HOTEL_TALK),
        *(turn for _ in range(EACH // 2) for turn in _there_and_back("bar", "reception")),
    ),
    endless=lambda number: tool("I am somebody else", "set_guest", "Noted.", name=f"Ada {number}"),
)

_TALK = (
    text("Is the Diavola hot?", "It has hot peppers, yes."),
    long_text("Tell me everything"),
)
_ORDERED = (
    tool("My name is Ada Byron", "set_customer", "Thank you, Ada.", name="Ada Byron"),
    tool(
        "Two large Margheritas without basil",
        "add_item",
        "Two large Margheritas without basil. Anything else?",
        name="Margherita",
        size="large",
        quantity=2,
        modifications=["no basil"],
    ),
    tool("A tiramisu", "add_item", "Noted.", name="Tiramisu", quantity=1),
    tool("A glass of house red", "add_item", "Noted.", name="House red", size="glass", quantity=1),
    tool("Make it three Margheritas", "change_item", "Three.", line_id="L1", quantity=3),
    tool("I cannot have nuts", "add_allergy", "I have noted it.", name="nuts"),
)
_CONFIRMED = (
    tool("I pick it up", "set_fulfilment", "Good.", kind="pickup"),
    tool("That is all", "read_back", "Three Margheritas, a tiramisu, a glass of red. Right?"),
    tool("Yes", "confirm_order", "Confirmed."),
)
RESTAURANT = Application(
    name="restaurant",
    call=lambda journal: restaurant(journal=journal),
    agent=restaurant_by_hand.Greeter,
    data=restaurant_by_hand.Order,
    greeting=says("Good evening, this is Bella Vista. What can I do for you?"),
    turns=(
        *warm(handoff("I would like to order", "order_taker", "What may it be?")),
        *warm(*_TALK, tool("It is Ada", "set_customer", "Hello, Ada.", name="Ada")),
        *(turn for ordered in _ORDERED for turn in (*_TALK, ordered)),
        *warm(*_CONFIRMED, *_there_and_back("payment", "order_taker")),
        *(turn for _ in range(EACH // 2) for turn in _there_and_back("payment", "order_taker")),
    ),
    endless=lambda number: tool(
        "I am somebody else", "set_customer", "Noted.", name=f"Ada {number}"
    ),
)


_front = cache(lambda: Front(Path(gettempdir())))  # nothing is booked, so no file is written


def _clinic(journal: Journal | None) -> Call[ClinicState, Clinic]:
    context = _front().context
    return CLINIC_APP.call(
        SharedState(ClinicState(visit_id="v-1"), context, state_id="v-1", journal=journal)
    )


_SLOTS = ("monday 9:00", "tuesday 9:30", "wednesday 10:00", "thursday 9:00", "friday 9:00")
CLINIC = Application(
    name="clinic",
    call=_clinic,
    agent=clinic_by_hand.Reception,
    data=clinic_by_hand.Visit,
    greeting=says("Hello, this is Maple Street Dental. Your name and date of birth?"),
    turns=(
        *warm(
            tool("I am Mary Shelley", "identify", "Thank you.", **MARY),
            tool("312 555 0199", "set_phone", "And why?", phone="312 555 0199"),
            tool("A cleaning", "set_reason", "Thank you.", reason="cleaning"),
            handoff("Next week?", "scheduling", "On which day?"),
            text("Where are you?", "At Maple Street."),
            long_text("Tell me everything"),
            tool("Monday at half past nine", "choose_slot", "Shall I?", slot="monday 9:30"),
            *_there_and_back("reception", "scheduling"),
        ),
        *(
            turn
            for changed in (
                *(tool(f"{slot}, please", "choose_slot", "Shall I?", slot=slot) for slot in _SLOTS),
                tool("It hurts", "set_reason", "I see.", reason="toothache"),
            )
            for turn in (
                text("Where are you?", "At Maple Street."),
                long_text("Tell me everything"),
                changed,
            )
        ),
        *(turn for _ in range(EACH // 2) for turn in _there_and_back("reception", "scheduling")),
    ),
    endless=lambda number: tool(
        "Another one", "choose_slot", "Shall I?", slot=_SLOTS[number % len(_SLOTS)]
    ),
    share=0.4,
)
APPLICATIONS = (HOTEL, RESTAURANT, CLINIC)

TWELVE_TURNS = (
    text("Good evening, are you open tonight?", "Yes, until half past midnight."),
    tool("I am Ada", "set_customer", "Nice to meet you, Ada. What would you like?", name="Ada"),
    handoff("I would like to order for tonight", "order_taker", "Gladly. What may it be?"),
    GuestTurn(
        "tool",
        "Two large Margheritas and a tiramisu. I will pick it up.",
        (
            calls(
                ("add_item", {"name": "Margherita", "size": "large", "quantity": 2}),
                ("add_item", {"name": "Tiramisu", "quantity": 1}),
                ("set_fulfilment", {"kind": "pickup"}),
            ),
            says("Two large Margheritas and one tiramisu, for pickup. Anything else?"),
        ),
    ),
    text("Is there nutmeg in the tiramisu?", "No, there is none in it."),
    text("And how long will it take?", "About twenty minutes."),
    text("Can I park near you?", "There is a garage on Mercer Street."),
    tool("Good, that is all", "read_back", "Two large Margheritas and one tiramisu. Right?"),
    GuestTurn(
        "handoff",
        "Yes, that is right",
        (
            calls("confirm_order"),
            calls("transfer_to_payment"),
            says("How would you like to pay when you pick it up?"),
        ),
    ),
    tool("By card", "choose_payment", "By card, then. Shall I place the order?", method="card"),
    GuestTurn(
        "handoff",
        "Yes please",
        (
            calls("place_order"),
            calls("transfer_to_feedback"),
            says("Your order is placed, number 101. How was this call, from one to five stars?"),
        ),
    ),
    tool("Five stars", "give_feedback", "Thank you, Ada. Enjoy your meal!", rating=5),
)
"""A guest's whole evening at the restaurant: four agents, three handoffs, 22 model calls after the greeting."""
