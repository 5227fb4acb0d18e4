"""The restaurant as a livekit developer writes it by hand: four agents, typed function tools, a dataclass.

It takes the same order from the same card with the same instructions. It checks what a careful developer
checks: that a dish is on the card, that there is something to confirm. It keeps no versions, undoes
nothing, stores nothing, and shows the next agent the last six messages and not the order.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from livekit.agents import Agent, RunContext, ToolError, function_tool

from agents.restaurant import prompt
from tests.benchmarks.by_hand.carrying import carried


@dataclass
class Line:
    """One thing on the order."""

    name: str
    size: str | None
    quantity: int
    modifications: list[str]
    price: Decimal


@dataclass
class Order:
    """What the agents share."""

    customer_name: str | None = None
    phone: str | None = None
    lines: list[Line] = field(default_factory=list)
    fulfilment: str | None = None
    address: str | None = None
    allergies: list[str] = field(default_factory=list)
    tip: Decimal | None = None
    payment_method: str | None = None
    confirmed: bool = False
    placed: bool = False
    rating: int | None = None
    comment: str | None = None

    @property
    def total(self) -> Decimal:
        """What it comes to, with New York's tax."""
        subtotal = sum((line.price * line.quantity for line in self.lines), Decimal(0))
        return (subtotal * Decimal("1.08875")).quantize(Decimal("0.01"))

    def line(self, line_id: str) -> Line:
        """Return a line by its id.

        Raises:
            ToolError: There is none.
        """
        at = int(line_id[1:]) - 1
        if not 0 <= at < len(self.lines):
            raise ToolError(f"There is no line {line_id}.")
        return self.lines[at]

    def read(self) -> str:
        """Say what is on it."""
        said = ", ".join(
            f"{line.quantity}x {line.size or ''} {line.name} {' '.join(line.modifications)}"
            for line in self.lines
        )
        return f"{said}. For {self.fulfilment}. The total is ${self.total}."


@cache
def prices() -> dict[str, dict[str | None, Decimal]]:
    """Read the card: what each dish costs by size."""
    file = Path(__file__).parents[3] / "bella_vista" / "menu.yaml"
    card = yaml.safe_load(file.read_text(encoding="utf-8"))
    found: dict[str, dict[str | None, Decimal]] = {}
    for section in card["sections"]:
        for dish in section["dishes"]:
            price = dish["price"]
            by_size = price if isinstance(price, dict) else {None: price}
            found[dish["name"].casefold()] = {
                size: Decimal(amount) for size, amount in by_size.items()
            }
    return found


def price_of(name: str, size: str | None) -> Decimal:
    """Return what a dish costs.

    Raises:
        ToolError: It is not on the card, or not in this size.
    """
    by_size = prices().get(name.casefold())
    if by_size is None:
        raise ToolError(f"{name} is not on the menu.")
    if size not in by_size:
        raise ToolError(f"{name} comes in {', '.join(map(str, by_size))}.")
    return by_size[size]


class RestaurantAgent(Agent):
    """What all four do."""

    page: str
    opens_with = "Say what comes next."

    def __init__(self, **more: Any) -> None:
        super().__init__(instructions=prompt(self.page), **more)

    async def on_enter(self) -> None:
        self.session.generate_reply(instructions=self.opens_with, tool_choice="none")

    @function_tool
    async def set_customer(
        self, ctx: RunContext[Order], name: str | None = None, phone: str | None = None
    ) -> str:
        """Keep who the guest is."""
        ctx.userdata.customer_name = name or ctx.userdata.customer_name
        ctx.userdata.phone = phone or ctx.userdata.phone
        return "Done."

    @function_tool
    async def add_allergy(self, ctx: RunContext[Order], name: str) -> str:
        """Note what the guest must not eat."""
        ctx.userdata.allergies.append(name)
        return f"Noted: {', '.join(ctx.userdata.allergies)}."

    @function_tool
    async def find_on_menu(self, ctx: RunContext[Order], words: str) -> str:
        """Look up what the menu has."""
        wanted = words.casefold()
        return "\n".join(name for name in prices() if wanted in name) or "Nothing like that."

    @function_tool
    async def tell(self, ctx: RunContext[Order], kind: Literal["hours", "order"]) -> str:
        """Answer a question about the house or the order."""
        return (
            ctx.userdata.read() if kind == "order" else "Every day but Monday, from half past 11."
        )

    @function_tool
    async def end_call(self, ctx: RunContext[Order]) -> str:
        """End the call, when the guest says goodbye."""
        return "Goodbye."


class Greeter(RestaurantAgent):
    """Opens the call."""

    page = "greeter"

    @function_tool
    async def transfer_to_order_taker(self, ctx: RunContext[Order]) -> Agent:
        """Hand the guest over as soon as they want to order."""
        return OrderTaker(chat_ctx=carried(self))


class OrderTaker(RestaurantAgent):
    """Takes the order."""

    page = "order_taker"

    @function_tool
    async def add_item(
        self,
        ctx: RunContext[Order],
        name: str,
        size: str | None = None,
        quantity: int = 1,
        modifications: list[str] | None = None,
    ) -> str:
        """Put a dish on the order."""
        order = ctx.userdata
        order.lines.append(Line(name, size, quantity, modifications or [], price_of(name, size)))
        return f"Done. L{len(order.lines)} is {quantity}x {name}. The total is ${order.total}."

    @function_tool
    async def change_item(
        self,
        ctx: RunContext[Order],
        line_id: str,
        quantity: int | None = None,
        modifications: list[str] | None = None,
    ) -> str:
        """Change a line that is on the order."""
        line = ctx.userdata.line(line_id)
        line.quantity = quantity or line.quantity
        line.modifications = line.modifications if modifications is None else modifications
        return (
            f"Done. {line_id} is {line.quantity}x {line.name}. The total is ${ctx.userdata.total}."
        )

    @function_tool
    async def remove_item(self, ctx: RunContext[Order], line_id: str) -> str:
        """Take a line off the order."""
        ctx.userdata.lines.remove(ctx.userdata.line(line_id))
        return f"Done. The total is ${ctx.userdata.total}."

    @function_tool
    async def set_fulfilment(
        self,
        ctx: RunContext[Order],
        kind: Literal["pickup", "delivery"],
        address: str | None = None,
    ) -> str:
        """Keep how the guest gets the food."""
        ctx.userdata.fulfilment, ctx.userdata.address = kind, address
        return f"Done. The total is ${ctx.userdata.total}."

    @function_tool
    async def read_back(self, ctx: RunContext[Order]) -> str:
        """Read the order back."""
        if not ctx.userdata.lines or ctx.userdata.fulfilment is None:
            raise ToolError("Something is missing.")
        return f"Say this to the guest and ask whether it is right: {ctx.userdata.read()}"

    @function_tool
    async def confirm_order(self, ctx: RunContext[Order]) -> str:
        """Keep that the guest said yes."""
        ctx.userdata.confirmed = True
        return f"Confirmed. The total is ${ctx.userdata.total}. Hand over to payment."

    @function_tool
    async def transfer_to_payment(self, ctx: RunContext[Order]) -> Agent:
        """Hand the guest over when they have said yes to the order as it was read back."""
        if not ctx.userdata.confirmed:
            raise ToolError("The order is not confirmed.")
        return Payment(chat_ctx=carried(self))


class Payment(RestaurantAgent):
    """Settles how it is paid."""

    page = "payment"

    @function_tool
    async def choose_payment(self, ctx: RunContext[Order], method: Literal["cash", "card"]) -> str:
        """Keep how the guest pays at handover."""
        ctx.userdata.payment_method = method
        return f"Done. The total is ${ctx.userdata.total}."

    @function_tool
    async def set_tip(self, ctx: RunContext[Order], percentage: int) -> str:
        """Keep the tip."""
        ctx.userdata.tip = Decimal(percentage)
        return f"Done. The total is ${ctx.userdata.total}."

    @function_tool
    async def place_order(self, ctx: RunContext[Order]) -> str:
        """Send the order to the kitchen."""
        if not ctx.userdata.confirmed or ctx.userdata.payment_method is None:
            raise ToolError("Something is missing.")
        ctx.userdata.placed = True
        return f"Placed. The number is 101. The total is ${ctx.userdata.total}."

    @function_tool
    async def transfer_to_order_taker(self, ctx: RunContext[Order]) -> Agent:
        """Hand the guest over when they want to change their order."""
        return OrderTaker(chat_ctx=carried(self))

    @function_tool
    async def transfer_to_feedback(self, ctx: RunContext[Order]) -> Agent:
        """Hand the guest over when the order has been placed."""
        if not ctx.userdata.placed:
            raise ToolError("The order is not placed.")
        return Feedback(chat_ctx=carried(self))


class Feedback(RestaurantAgent):
    """Asks how it was."""

    page = "feedback"

    @function_tool
    async def give_feedback(
        self, ctx: RunContext[Order], rating: int | None = None, comment: str | None = None
    ) -> str:
        """Keep how the guest liked it."""
        ctx.userdata.rating, ctx.userdata.comment = rating, comment
        return "Done."

    @function_tool
    async def transfer_to_greeter(self, ctx: RunContext[Order]) -> Agent:
        """Hand the guest over when they want something else."""
        return Greeter(chat_ctx=carried(self))
