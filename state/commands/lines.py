"""Commands that change what is on the order."""

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from state.combos import PartWords
from state.commands.base import Count, HouseCommand, LineId, OrderCommand, ensure, line_of
from state.context import OrderContext
from state.errors import NotValid, OverLimit
from state.kitchen import Kitchen
from state.order import OrderLine, OrderState
from state.privacy.text import Line, Words
from state.ready import order_time
from state.stages import can_order

Modifications = Annotated[
    tuple[Words, ...],
    Field(
        description="What is different from the card, each in the guest's own words: 'no basil',"
        " 'extra mozzarella', 'half mushrooms', 'pan crust', '2 espresso shots'. Never a size.",
        max_length=50,
    ),
]
Size = Annotated[
    Words | None,
    Field(description="The size the guest named, such as 'large'. Leave out when not named."),
]
Note = Annotated[
    Line,
    Field(
        description="A wish about this line that the menu has no word for, such as 'cut in four'."
        " Never something the menu prices."
    ),
]


class Part(BaseModel):
    """One part of a combo."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[Words, Field(description="The dish chosen for this part.")]
    size: Annotated[Words | None, Field(description="Its size, if the guest named one.")] = None
    modifications: Annotated[
        tuple[Words, ...],
        Field(description="What is different about this part, as above.", max_length=50),
    ] = ()
    quantity: Annotated[
        Count, Field(description="How many parts are this dish; 1 if left out.")
    ] = 1


Parts = Annotated[
    tuple[Part, ...],
    Field(description="Only for a combo: the dishes the guest chose for its parts.", max_length=50),
]


class AddItem(HouseCommand):
    """Put a dish, a drink or a combo on the order.

    Call it once for each thing that is different: "two Margheritas, one without basil" is two calls of
    one each. Prices come from the menu. If something has to be chosen first you are told what.
    """

    op: Literal["add_item"] = "add_item"
    touched: ClassVar[tuple[str, ...]] = ()
    name: Annotated[Words, Field(description="The dish or combo, as the guest calls it.")]
    size: Size = None
    quantity: Annotated[Count, Field(description="How many of exactly this; 1 if not said.")] = 1
    modifications: Modifications = ()
    parts: Parts | None = None
    note: Note | None = None

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Add a line, or raise the quantity of an equal line."""
        ensure(can_order(order))
        line = _kitchen(order, context).line(
            self.name, self.size, self.modifications, _part_words(self.parts)
        )
        _refuse_quantity(line.name, self.quantity, context)
        line = line.model_copy(update={"quantity": self.quantity, "note": self.note or None})
        for there in order.order_items:
            if there.same_thing(line):
                quantity = there.quantity + self.quantity
                _refuse_quantity(line.name, quantity, context)
                update = {"quantity": quantity, "holds": line.holds}
                return _replaced(order, there.model_copy(update=update))
        most = context.menu.restaurant.limits.lines
        if len(order.order_items) >= most:
            raise OverLimit(
                f"An order has at most {most} lines; more needs a person.", what="lines", limit=most
            )
        given = order.lines_given + 1
        line = line.model_copy(update={"id": f"L{given}"})
        return order.model_copy(
            update={"order_items": (*order.order_items, line), "lines_given": given}
        )


class ChangeItem(HouseCommand):
    """Change a line that is on the order. What you give replaces what was there; the rest stays.

    To make one of several different, lower this line's quantity and add the different one as a line of
    its own. If the line becomes the same as another one, the two become one under this line's id.
    """

    op: Literal["change_item"] = "change_item"
    demands_version: ClassVar[bool] = True

    line_id: LineId
    name: Annotated[
        Words | None, Field(description="Another dish instead; what fits it stays chosen.")
    ] = None
    size: Size = None
    quantity: Annotated[
        Count | None, Field(description="How many there are to be now, not how many more.")
    ] = None
    modifications: Annotated[
        Modifications | None,
        Field(
            description="All modifications the line is to have now, old ones to be kept included;"
            " an empty list takes all away."
        ),
    ] = None
    parts: Annotated[
        Parts | None, Field(description="Only for a combo: all its parts as they are to be now.")
    ] = None
    note: Annotated[
        Line | None, Field(description="The note as it is to be now; an empty text takes it away.")
    ] = None

    @model_validator(mode="after")
    def _says_something(self) -> "ChangeItem":
        given = (self.name, self.size, self.quantity, self.modifications, self.parts, self.note)
        if all(one is None for one in given):
            raise ValueError("give what is to be changed")
        return self

    def touches(self, state: OrderState) -> tuple[str, ...]:
        """Return this line."""
        return (f"lines/{line_of(state, self.line_id).id}",)

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Replace the given fields; the menu is consulted only for those it determines, and for more of the line."""
        ensure(can_order(order))
        old = line_of(order, self.line_id)
        line = old
        asked = (self.name, self.size, self.modifications, self.parts)
        if any(given is not None for given in asked):
            line = self._served(old, _kitchen(order, context))
        if self.quantity is not None:
            line = line.model_copy(update={"quantity": self.quantity})
        if line.quantity > old.quantity:
            _refuse_sold_out(line, _kitchen(order, context))
        if self.note is not None:
            line = line.model_copy(update={"note": self.note or None})
        same = next(
            (one for one in order.order_items if one.id != old.id and one.same_thing(line)), None
        )
        if same is not None:
            line = line.model_copy(update={"quantity": line.quantity + same.quantity})
            order = _without(order, same)
        if line.quantity > old.quantity:
            _refuse_quantity(line.name, line.quantity, context)
        return order if line == old else _replaced(order, line)

    def _served(self, old: OrderLine, kitchen: Kitchen) -> OrderLine:
        name = self.name if self.name is not None else old.name
        item, said_size = kitchen.named(name)
        other = item.name != old.name
        size = self.size or said_size
        if size is None:
            size = kitchen.size_kept(item, old.size)
        parts = _part_words(self.parts)
        if parts is None and not other and old.parts:
            parts = [PartWords(part.name, part.size, part.modifications) for part in old.parts]
        words: tuple[str, ...] = old.modifications
        if self.modifications is not None:
            words = self.modifications
        elif other:
            words = kitchen.words_kept(item.name, size, words)
        fresh = kitchen.line(item.name, size, words, parts)
        return fresh.model_copy(update={"id": old.id, "quantity": old.quantity, "note": old.note})


class RemoveItem(OrderCommand):
    """Take a line off the order, or only so many pieces of it."""

    op: Literal["remove_item"] = "remove_item"
    demands_version: ClassVar[bool] = True

    line_id: LineId
    quantity: Annotated[
        Count | None, Field(description="How many pieces to take off; all of them if left out.")
    ] = None

    def touches(self, state: OrderState) -> tuple[str, ...]:
        """Return this line."""
        return (f"lines/{line_of(state, self.line_id).id}",)

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Lower the line's quantity, or remove the line."""
        ensure(can_order(order))
        line = line_of(order, self.line_id)
        if self.quantity is None or self.quantity == line.quantity:
            return _without(order, line)
        if self.quantity > line.quantity:
            raise NotValid(
                f"There are only {line.quantity} of {line.name} on {line.id}; {self.quantity}"
                " cannot be taken off.",
                field="quantity",
                why="more_than_there",
                id=line.id,
                name=line.name,
                possible=line.quantity,
            )
        return _replaced(order, line.model_copy(update={"quantity": line.quantity - self.quantity}))


def _kitchen(order: OrderState, context: OrderContext) -> Kitchen:
    return Kitchen(context.menu, lambda: order_time(order, context))


def _part_words(parts: tuple[Part, ...] | None) -> list[PartWords] | None:
    if parts is None:
        return None
    return [PartWords(part.name, part.size, part.modifications, part.quantity) for part in parts]


def _refuse_quantity(name: str, quantity: int, context: OrderContext) -> None:
    most = context.menu.restaurant.limits.quantity
    if quantity > most:
        raise OverLimit(
            f"At most {most} of {name}; {quantity} needs a person.",
            what="quantity",
            limit=most,
            asked=quantity,
            name=name,
        )


def _refuse_sold_out(line: OrderLine, kitchen: Kitchen) -> None:
    for item in kitchen.items_of(line):
        kitchen.refuse_sold_out(item)


def _replaced(order: OrderState, line: OrderLine) -> OrderState:
    items = [line if there.id == line.id else there for there in order.order_items]
    return order.model_copy(update={"order_items": tuple(items)})


def _without(order: OrderState, line: OrderLine) -> OrderState:
    items = tuple(there for there in order.order_items if there.id != line.id)
    return order.model_copy(update={"order_items": items})
