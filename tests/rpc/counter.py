"""A restaurant's page as clients use it: JSON in, JSON out, through the gateway."""

from collections.abc import Callable

from rpc.page import Again, Turns
from rpc.restaurant import GUEST, ORDER_PAGE, STAFF
from rpc.testing import CallRefused as Refusal
from rpc.testing import FakePage
from state.context import OrderContext
from state.menu import Menu
from state.order import OrderState
from state.shared import SharedState
from tests.state.bistro import Bistro

__all__ = ["ADA", "COOK", "STRANGER", "Counter", "Refusal"]

ADA, COOK, STRANGER = "ada-1", "cook-1", "nobody-1"


class Counter(FakePage[OrderState, OrderContext]):
    """Calls of the guest Ada, of two cooks, and of a stranger.

    Args:
        menu: The menu; the small restaurant's without it.
        shared: The order; a new one without it.
    """

    def __init__(
        self,
        menu: Menu | None = None,
        shared: SharedState[OrderState, OrderContext] | None = None,
        *,
        again: Again | None = None,
        turns: Callable[[], Turns | None] | None = None,
        open_at_once: bool = True,
    ) -> None:
        self.bistro = Bistro(menu)
        super().__init__(
            ORDER_PAGE,
            shared or SharedState(self.bistro.order(), self.bistro.context, speaker="greeter"),
            callers={ADA: GUEST, COOK: STAFF, "cook-2": STAFF},
            agent="bella-vista",
            state_id="o-1",
            resume_code="abcd-efgh-jkmn",
            speaker="greeter",
            again=again,
            turns=turns,
            open_at_once=open_at_once,
        )

    @property
    def order(self) -> OrderState:
        return self.shared.state
