"""The reads of the restaurant's agents: their only source of answers to questions."""

from typing import Annotated, Literal

from pydantic import Field

from agents.handoff import Read
from agents.telling import NO_PROMISE, line_text
from state.allergens import allergens_met, dishes_with, held_by, is_mentioned
from state.context import OrderContext
from state.errors import NotFound, NotOnMenu
from state.hours import hours_text
from state.menu import Combo, Dish, Menu, Section
from state.menu.families import families_of
from state.money import Cents, shown
from state.order import OrderState
from state.pricing import price
from state.privacy.text import Asked, Name


class FindOnMenu(Read[OrderState, OrderContext]):
    """Look up what the menu has, by a dish, a section, an ingredient or a diet, with prices. Names that come back are the ones to order by."""

    op: Literal["find_on_menu"] = "find_on_menu"
    words: Annotated[Asked, Field(description="What the guest asked for.")]

    def answer(self, state: OrderState, context: OrderContext) -> str:
        """List the matches, best first."""
        found = context.menu.find(self.words)
        if not found:
            raise NotOnMenu("Nothing on the menu is like that.", words=self.words, near=[])
        return "\n".join(
            f"{_entry(context.menu, one)}{_careful(context.menu, one, state)}" for one in found
        )


class Tell(Read[OrderState, OrderContext]):
    """Answer a question of the guest from the restaurant's own facts: hours, facts, contents, allergens, or the order so far."""

    op: Literal["tell"] = "tell"
    kind: Annotated[
        Literal["hours", "facts", "contents", "allergens", "order"],
        Field(description="What the question is about."),
    ]
    name: Annotated[
        Name | None,
        Field(
            description="For contents the dish; for allergens the dish, or the allergen to look for; for facts the"
            " subject."
        ),
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
                return _contents(menu, self.name, state)
            case "allergens":
                return _allergens(menu, self.name, state)


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


def _careful(menu: Menu, item: Dish | Combo | Section, state: OrderState) -> str:
    """Warn of allergens of an item that match the guest's allergies."""
    if isinstance(item, Section):
        return ""
    met = allergens_met(state.allergies, held_by(menu, item))
    return f" Careful, tell the guest: the menu lists {' and '.join(met)} for it." if met else ""


def _contents(menu: Menu, name: str | None, state: OrderState) -> str:
    dish = _dish(menu, name)
    if isinstance(dish, Combo):
        return f"{_entry(menu, dish)}{_careful(menu, dish, state)}"
    groups = "; ".join(
        f"{group.name}: {', '.join(choice.name for choice in group.choices)}"
        for group in menu.groups(dish)
    )
    contents = f" Made with {', '.join(dish.contains)}." if dish.contains else ""
    choices = f" To choose: {groups}." if groups else ""
    return f"{_entry(menu, dish)}{contents}{choices}{_careful(menu, dish, state)}"


def _allergens(menu: Menu, name: str | None, state: OrderState) -> str:
    if not name and state.order_items:
        items = [item for line in state.order_items if (item := _listed(menu, line.name))]
    else:
        try:
            items = [_dish(menu, name)]
        except NotOnMenu:
            return f"{_about_allergen(menu, name or '')} {NO_PROMISE}"
    said = [_allergens_of(menu, item, state) for item in items]
    return f"{' '.join(dict.fromkeys(said))} {NO_PROMISE}"


def _listed(menu: Menu, name: str) -> Dish | Combo | None:
    return menu.dish(name) or menu.combo(name)


def _allergens_of(menu: Menu, item: Dish | Combo, state: OrderState) -> str:
    dishes = (
        [item]
        if isinstance(item, Dish)
        else [dish for part in item.parts for one in part.dishes if (dish := menu.dish(one))]
    )
    said = []
    for dish in dishes:
        allergens = menu.allergens(dish)
        contents = f", made with {', '.join(dish.contains)}" if dish.contains else ""
        said.append(f"{dish.name}: {', '.join(allergens) or 'no allergens are listed'}{contents}")
    return f"{'; '.join(dict.fromkeys(said))}.{_careful(menu, item, state)}"


def _about_allergen(menu: Menu, name: str) -> str:
    if not is_mentioned(menu, name):
        return f"The menu has nothing called {name} and says nothing about it: offer a person."
    dishes = ", ".join(dish.name for dish in dishes_with(menu, name))
    called = " and ".join(families_of(name)) or name
    return f"The menu lists {called} for {dishes or 'some choices, and for no dish as it comes'}."


def _facts(menu: Menu, name: str | None) -> str:
    restaurant = menu.restaurant
    known = dict(restaurant.facts)
    if restaurant.address:
        known.setdefault("address", restaurant.address)
    if restaurant.phone:
        known.setdefault("phone", restaurant.phone)
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
