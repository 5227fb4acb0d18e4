"""The restaurant and the clinic, put through the matrix beside the hotel, and a scene of each kind for all."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from agents.roster import restaurant_graph, restaurant_policy
from examples.clinic.desk import DESK
from examples.clinic.desk import policy as clinic_policy
from examples.clinic.tests.kit import Front
from state.shared import SharedState
from tests.agents.handoff.raw_model import Part
from tests.agents.matrix.rows import BAR, CHEERS, CONCIERGE, TWO_NIGHTS, made
from tests.agents.matrix.stage import HOTEL, Application, Disk
from tests.agents.restaurant import restaurant

Scene = Sequence[Sequence[Part]]

END = made("end_call")


def _order(disk: Disk) -> SharedState[Any, Any]:
    return restaurant(journal=disk).shared


_front = cache(lambda: Front(Path(gettempdir())))  # nothing is booked, so no file is written


def _visit(disk: Disk) -> SharedState[Any, Any]:
    return SharedState(_front().ready(), _front().context, journal=disk)


RESTAURANT = Application(
    name="restaurant",
    shared=_order,
    graph=restaurant_graph,
    policy=lambda shared: restaurant_policy(shared.context),
    write=("set_customer", '{"name": "Grace"}', None),
    written=lambda order: order.customer_name == "Grace",
)
CLINIC = Application(
    name="clinic",
    shared=_visit,
    graph=lambda: DESK,
    policy=lambda shared: clinic_policy(shared.context),
    write=("set_reason", '{"reason": "other"}', None),
    written=lambda visit: visit.reason == "other",
)


def scenes(write: Part, handoff: Part, other: Part, tool: Part, opening: str) -> dict[str, Scene]:
    """One scene of each kind.

    Args:
        write: A write of the first agent.
        handoff: A handoff of the first agent that is possible.
        other: Another one, possible or not.
        tool: What the next agent does while it opens.
        opening: What the next agent says.
    """
    return {
        "words": [["It is 120."]],
        "a write": [["One moment.", write], ["Done."]],
        "a handoff": [[handoff], [opening]],
        "words and a handoff": [["One moment.", handoff], [opening]],
        "a handoff beside a write": [[handoff, write], [opening]],
        "two handoffs": [[handoff, other], [opening]],
        "a handoff and a tool in the opening": [[handoff], [tool], [opening]],
        "the end": [["Goodbye.", END], ["Goodbye."]],
        "a handoff, the end and a write": [[handoff, END, write], [opening]],
    }


SCENES: Mapping[Application, Mapping[str, Scene]] = {
    HOTEL: scenes(TWO_NIGHTS, BAR, CONCIERGE, made("set_guest", name="Ada"), CHEERS),
    RESTAURANT: scenes(
        made("set_customer", name="Ada"),
        made("transfer_to_order_taker"),
        made("transfer_to_order_taker"),
        made("add_item", name="Tiramisu", quantity=1),
        "What may it be?",
    ),
    CLINIC: scenes(
        made("set_reason", reason="check_up"),
        made("transfer_to_scheduling"),
        made("transfer_to_insurance"),
        made("choose_slot", slot="tuesday 9:30"),
        "On which day?",
    ),
}
