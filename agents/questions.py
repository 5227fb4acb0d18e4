"""Reads of the restaurant: what agents answer questions from, and from nowhere else."""

from typing import Annotated, Literal

from pydantic import Field

from agents.handoff import Read
from agents.telling import line_text
from state.context import OrderContext
from state.errors import NotFound, NotOnMenu
from state.hours import hours_text
from state.menu import Combo, Dish, Menu, Section
from state.money import Cents, shown
from state.order import OrderState
from state.pricing import price
from state.privacy.text import Asked, Name


class FindOnMenu(Read[OrderState, OrderContext]):
    """Look up what the menu has, by a dish, a section, an ingredient or a diet, with prices. Names that come back are the ones to order by."""

    op: Literal["find_on_menu"] = "find_on_menu"
    words: Annotated[Asked, Field(description="What the guest asked for.")]

    def answer(self, state: OrderState, context: OrderContext) -> str:
        """List what fits, best first."""
        found = context.menu.find(self.words)
        if not found:
            raise NotOnMenu("Nothing on the menu is like that.", words=self.words, near=[])
        return "\n".join(_entry(context.menu, one) for one in found)


class Tell(Read[OrderState, OrderContext]):
    """Answer a question of the guest from the restaurant's own facts: hours, facts, contents, allergens, or the order so far."""

    op: Literal["tell"] = "tell"
    kind: Annotated[
        Literal["hours", "facts", "contents", "allergens", "order"],
        Field(description="What the question is about."),
    ]
    name: Annotated[
        Name | None,
        Field(description="For contents and allergens the dish; for facts the subject."),
    ] = None

    def answer(self, state: OrderState, context: OrderContext) -> str:
        """Return the present facts."""
        menu = context.menu
        match self.kind:
            case "hours":
                return hours_text(menu.restaurant, context.now())
            case "facts":
                return _facts(menu, self.name)
            case "order":
                return _order(state)
            case "contents":
                return _contents(menu, self.name)
            case "allergens":
                return _allergens(menu, self.name)


def _entry(menu: Menu, found: Dish | Combo | Section) -> str:
    currency = menu.restaurant.currency
    if isinstance(found, Section):
        return f"Section {found.name}: {', '.join(dish.name for dish in found.dishes)}"
    if isinstance(found, Combo):
        parts = "; ".join(f"{part.choose} of {', '.join(part.dishes)}" for part in found.parts)
        return f"{found.name}: {shown(found.price, currency)}, with {parts}"
    prices = ", ".join(
        f"{size} {shown(amount, currency)}" if size else shown(amount, currency)
        for size, amount in found.prices.items()
    )
    sold_out = "" if found.available else " (sold out)"
    diets = f" [{', '.join(found.diets)}]" if found.diets else ""
    return f"{found.name}{sold_out}: {prices}. {found.description or ''}{diets}".rstrip()


def _dish(menu: Menu, name: str | None) -> Dish | Combo:
    if not name:
        raise NotFound("Say which dish.", kind="dish")
    return menu.item(name)


def _contents(menu: Menu, name: str | None) -> str:
    dish = _dish(menu, name)
    if isinstance(dish, Combo):
        return _entry(menu, dish)
    groups = "; ".join(
        f"{group.name}: {', '.join(choice.name for choice in group.choices)}"
        for group in menu.groups(dish)
    )
    contents = f" Made with {', '.join(dish.contains)}." if dish.contains else ""
    return f"{_entry(menu, dish)}{contents}{f' To choose: {groups}.' if groups else ''}"


def _allergens(menu: Menu, name: str | None) -> str:
    dish = _dish(menu, name)
    names = (
        [dish.name]
        if isinstance(dish, Dish)
        else [one for part in dish.parts for one in part.dishes]
    )
    said = []
    for one in dict.fromkeys(names):
        listed = menu.dish(one)
        allergens = menu.allergens(listed, ()) if listed is not None else ()
        said.append(f"{one}: {', '.join(allergens) if allergens else 'no allergens are listed'}")
    return f"{'; '.join(said)}. The kitchen handles all of these: nothing can be promised to be free of them."


def _facts(menu: Menu, name: str | None) -> str:
    house = menu.restaurant
    known = dict(house.facts)
    if house.address:
        known.setdefault("address", house.address)
    if house.phone:
        known.setdefault("phone", house.phone)
    if name and (fact := known.get(name.casefold())) is not None:
        return fact
    return "; ".join(f"{subject}: {fact}" for subject, fact in known.items()) or "Nothing is known."


def _order(state: OrderState) -> str:
    if not state.order_items:
        return "Nothing has been ordered yet."
    bill = price(state)

    def money(amount: Cents) -> str:
        return shown(amount, state.currency)

    lines = "; ".join(
        f"{line.id} {line_text(line)} {money(line.line_total)}" for line in state.order_items
    )
    extras = [f"{one.name} -{money(one.amount)}" for one in bill.discounts]
    extras += [f"{one.name} {money(one.amount)}" for one in bill.fees]
    if bill.tip:
        extras.append(f"tip {money(bill.tip)}")
    return f"{lines}. {', '.join(extras)}{'. ' if extras else ''}Total {money(bill.total)}, stage {state.stage}."
