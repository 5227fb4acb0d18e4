"""Answers to what guests ask, from the menu and the order as data, and from nowhere else."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bella_vista.local.phrases import (
    NO_SAFETY,
    capital,
    careful,
    joined,
    listed,
    not_on_the_menu,
    number,
)
from bella_vista.local.understanding.meaning import Asked
from state.allergens import (
    allergens_met,
    dishes_with,
    families_named,
    families_of,
    held_by,
    is_mentioned,
)
from state.contact import postcode_in
from state.errors import OrderError
from state.hours import hours_text
from state.menu import Combo, Dish, Menu, Section
from state.money import Cents, shown

_MOST = 8
"""How many dishes are named in one breath."""


class Answers:
    """Answers questions about one menu.

    Args:
        menu: The menu and the house.
    """

    def __init__(self, menu: Menu) -> None:
        self._menu = menu

    def answer(self, asked: Asked, order: Mapping[str, Any], now: datetime) -> str:
        """Answer one question in a sentence or two.

        Args:
            asked: The question.
            order: The order as data.
            now: The present time, in the restaurant's zone.
        """
        match asked.kind:
            case "price":
                return self._price(asked, order)
            case "contents":
                allergies = [str(one) for one in order.get("allergies") or ()]
                return joined(self._contents(asked.subject), self.against(asked.subject, allergies))
            case "allergens":
                return self._allergens(asked, order)
            case "diets":
                return self._diets(asked)
            case "section":
                return self._section(asked.subject)
            case "menu":
                return self._sections()
            case "hours":
                return hours_text(self._menu.restaurant, now)
            case "total":
                return f"Your total is {order['total']}." if order.get("items") else _NOTHING_YET
            case "order":
                return so_far(order)
            case "service":
                return self._area(asked.words) or joined(_ready(order), self._service())
            case "payment":
                return f"You can pay by {listed(self._menu.restaurant.payment, 'or')} when you get your food."
            case "facts" if asked.subject == "coupons":
                return self._coupon(asked.words, now)
            case "facts":
                return self._fact(asked.subject)
        return ""

    def _money(self, amount: Cents) -> str:
        return shown(amount, self._menu.restaurant.currency)

    def _item(self, name: str | None) -> Dish | Combo | None:
        if name is None:
            return None
        found = self._menu.dish(name) or self._menu.combo(name)
        if found is None:
            try:
                found = self._menu.item(name)
            except OrderError:
                return None
        return found

    def _extreme(self, asked: Asked) -> str:
        section = self._menu.section(asked.subject) if asked.subject else None
        dishes = section.dishes if section is not None else self._menu.dishes
        priced = [(min(dish.prices.values()), dish) for dish in dishes if dish.available]
        if not priced:
            return self._section(asked.subject)
        pick = max if asked.words == "dearest" else min
        amount = pick(price for price, _ in priced)
        names = [dish.name for price, dish in priced if price == amount]
        return (
            f"That is {_some(names)}, at {self._money(amount)}{' each' if len(names) > 1 else ''}."
        )

    def _coupon(self, code: str | None, now: datetime) -> str:
        known = code is not None and self._menu.coupons.get(code.upper())
        if not known:
            of = f" {code}" if code else ""
            return (
                f"I cannot look up codes{of}. If you have one, tell me to use it, and I will try."
            )
        if known.until is not None and known.until < now.date():
            return f"The code {code} has run out."
        return (
            f'Yes, {code} is one of our codes. Say "use {code}", and I will put it on your order.'
        )

    def _price(self, asked: Asked, order: Mapping[str, Any]) -> str:
        if asked.words in ("cheapest", "dearest"):
            return self._extreme(asked)
        item = self._item(asked.subject)
        if isinstance(item, Combo):
            return f"The {item.name} is {self._money(item.price)}."
        if isinstance(item, Dish):
            sold_out = " We are out of it today." if not item.available else ""
            if asked.size in item.prices:
                size = f"{asked.size} " if asked.size else ""
                return f"A {size}{item.name} is {self._money(item.prices[asked.size])}.{sold_out}"
            if not item.sizes:
                return f"{item.name} is {self._money(item.prices[None])}.{sold_out}"
            sizes = listed([f"{size} {self._money(item.prices[size])}" for size in item.sizes])
            return f"{item.name}: {sizes}.{sold_out}"
        choice = self._choice_price(asked.subject)
        if choice:
            return choice
        items = order.get("items") or ()
        if items:
            lines = listed([f"{line_words(line)} is {line['price']}" for line in items])
            return f"{capital(lines)}. The total is {order['total']}."
        return "Tell me which dish, and I will tell you its price."

    def _choice_price(self, name: str | None) -> str:
        for group in self._menu.options.values():
            for choice in group.choices:
                if name is not None and choice.name.casefold() == name.casefold():
                    amounts = sorted(set(choice.prices.values()))
                    if amounts == [0]:
                        return f"{capital(choice.name)} costs nothing extra."
                    span = [self._money(amounts[0])]
                    if len(amounts) > 1:
                        span = ["between", self._money(amounts[0]), "and", self._money(amounts[-1])]
                    return f"{capital(choice.name)} is {' '.join(span)} extra."
        return ""

    def _contents(self, name: str | None) -> str:
        item = self._item(name)
        if item is None:
            return "Tell me which dish, and I will tell you what is in it."
        if isinstance(item, Combo):
            parts = [f"{part.choose} of {listed(part.dishes, 'or')}" for part in item.parts]
            return f"{item.name} is {listed(parts)}, for {self._money(item.price)}."
        said = [f"{item.name}: {item.description}" if item.description else ""]
        if item.contains and not item.description:
            said.append(f"The {item.name} comes with {listed(item.contains)}.")
        groups = [group.name for group in self._menu.groups(item) if group.choices]
        if groups:
            said.append(f"You can choose its {listed(groups)}.")
        answer = joined(*said)
        return answer or f"The menu says nothing more about the {item.name}."

    def _allergens(self, asked: Asked, order: Mapping[str, Any]) -> str:
        item = self._item(asked.subject)
        if item is None:
            if asked.subject and asked.allergen is None:
                return f"I do not know about {asked.subject}. {NO_SAFETY}"
            names = [line["name"] for line in order.get("items") or ()]
            if not names and asked.allergen:
                return self._dishes_with(asked.allergen)
            if not names:
                return f"Tell me which dish, and I will tell you what the menu lists. {NO_SAFETY}"
        else:
            names = [item.name]
        if asked.allergen and not is_mentioned(self._menu, asked.allergen):
            return not_on_the_menu([asked.allergen])
        said = []
        for name in dict.fromkeys(names):
            listed_for = self.allergens(name)
            if asked.allergen:
                said.append(self._holds(name, asked.allergen))
            elif listed_for:
                said.append(f"For the {name} the menu lists {listed(listed_for)}.")
            else:
                said.append(f"The menu lists no allergens for the {name}.")
        return joined(*said, NO_SAFETY)

    def _holds(self, name: str, allergen: str) -> str:
        item = self._item(name)
        met = allergens_met([allergen], held_by(self._menu, item)) if item is not None else ()
        if not met:
            return f"The menu does not list {allergen} for the {name}."
        return f"The menu lists {listed(met)} for the {name}."

    def _dishes_with(self, allergen: str) -> str:
        if not is_mentioned(self._menu, allergen):
            return not_on_the_menu([allergen])
        names = [dish.name for dish in dishes_with(self._menu, allergen)]
        called = listed(families_of(allergen)) or allergen
        where = f"the {_some(names)}" if names else "no dish as it comes, only for some choices"
        return f"The menu lists {called} for {where}. {NO_SAFETY}"

    def not_mentioned(self, allergies: Sequence[str]) -> str:
        """Say which of the guest's allergies the menu says nothing about, and offer a person."""
        unknown = [one for one in allergies if not is_mentioned(self._menu, one)]
        return not_on_the_menu(unknown) if unknown else ""

    def against(self, name: str | None, allergies: Sequence[str]) -> str:
        """Warn of a dish, or of what can be in a combo, that lists what the guest is allergic to."""
        item = self._item(name)
        met = allergens_met(allergies, held_by(self._menu, item)) if item is not None else ()
        return careful({item.name: met}) if item is not None and met else ""

    def allergens(self, name: str) -> tuple[str, ...]:
        """Name what the menu lists for a dish, or for all that can be in a combo, and what its ingredients tell."""
        item = self._item(name)
        if isinstance(item, Dish):
            stated = self._menu.allergens(item)
            known = families_named(stated)
            inside = families_named(held_by(self._menu, item))
            return (*stated, *(family for family in inside if family not in known))
        found: list[str] = []
        for part in item.parts if item is not None else ():
            for one in part.dishes:
                found += self.allergens(one)
        return tuple(dict.fromkeys(found))

    def _diets(self, asked: Asked) -> str:
        item = self._item(asked.subject)
        if isinstance(item, Dish):
            if asked.diet:
                is_so = any(_same(asked.diet, one) for one in item.diets)
                return (
                    f"Yes, the {item.name} is marked {asked.diet}."
                    if is_so
                    else f"The {item.name} is not marked {asked.diet} on the menu."
                )
            if item.diets:
                return f"The {item.name} is marked {listed(item.diets)}."
            return f"The {item.name} is not marked for any diet."
        fitting = [
            dish.name
            for dish in self._menu.dishes
            if dish.available and asked.diet and any(_same(asked.diet, one) for one in dish.diets)
        ]
        if fitting:
            return f"Marked {asked.diet}: {_some(fitting)}."
        if asked.diet:
            return f"Nothing on the menu is marked {asked.diet}."
        return "Tell me which dish or which diet, and I will tell you what the menu says."

    def _section(self, name: str | None) -> str:
        section = self._menu.section(name) if name else None
        if section is None:
            return self._sections()
        return f"{section.name}: {_some([self._entry(dish) for dish in _to_be_had(section)])}."

    def _sections(self) -> str:
        names = listed([section.name for section in self._menu.sections if section.dishes])
        return f"We have {names}. Ask me about any of them."

    def _entry(self, dish: Dish) -> str:
        amounts = list(dish.prices.values())
        start = "from " if len(amounts) > 1 else ""
        return f"{dish.name} ({start}{self._money(min(amounts))})"

    def _service(self) -> str:
        house = self._menu.restaurant
        said = []
        if house.pickup is not None:
            said.append(f"You can pick up, ready in about {house.pickup.lead_minutes} minutes.")
        if house.delivery is not None:
            delivery = house.delivery
            terms = [f"in about {delivery.lead_minutes} minutes"]
            if delivery.fee:
                terms.append(f"for {self._money(delivery.fee)}")
            if delivery.minimum:
                terms.append(f"from {self._money(delivery.minimum)}")
            area = f" to {listed(delivery.postcodes)}" if delivery.postcodes else ""
            said.append(f"We deliver{area} {' '.join(terms)}.")
        else:
            said.append("We do not deliver.")
        if house.pickup is None:
            said.append("There is no pickup.")
        return joined(*said)

    def _area(self, address: str | None) -> str:
        """Say whether an address is delivered to; nothing when it does not tell."""
        delivery = self._menu.restaurant.delivery
        if address is None or delivery is None:
            return ""
        found, told = postcode_in(address, delivery.postcodes)
        if delivery.postcodes and found is None:
            return (
                f"I am sorry, we do not deliver there; we deliver to {listed(delivery.postcodes)}."
                if told
                else ""
            )
        fee = f" for {self._money(delivery.fee)}" if delivery.fee else ""
        return f"Yes, we deliver there, in about {delivery.lead_minutes} minutes{fee}."

    def booking(self) -> str:
        """Say how a table is had; orders are all that can be taken here."""
        told = (
            fact
            for subject, fact in self._menu.restaurant.facts.items()
            if "reserv" in subject.casefold() or "booking" in subject.casefold()
        )
        return next(told, "I cannot book tables; I take orders. I can let our staff know.")

    def _fact(self, subject: str | None) -> str:
        house = self._menu.restaurant
        if subject is not None:
            if subject in house.facts:
                return house.facts[subject]
            if subject == "address" and house.address:
                return f"We are at {house.address}."
            if subject == "phone" and house.phone:
                return f"Our number is {house.phone}."
        return "I do not know that. I can ask a person to get back to you."


_NOTHING_YET = "You have not ordered anything yet."


def _ready(order: Mapping[str, Any]) -> str:
    ready = (order.get("fulfilment") or {}).get("ready")
    return f"Your order will be ready {ready}." if ready else ""


def so_far(order: Mapping[str, Any]) -> str:
    """Say what stands on the order, with its total."""
    items = order.get("items") or ()
    if not items:
        return _NOTHING_YET
    return f"So far: {listed([line_words(line) for line in items])}. The total is {order['total']}."


def line_words(line: Mapping[str, Any]) -> str:
    """Say one line of the order as it is shown."""
    count = number(int(line.get("quantity") or 1))
    said = " ".join(part for part in (count, line.get("size"), line.get("name")) if part)
    words = [str(one) for one in line.get("modifications") or ()]
    without = [one.removeprefix("no ") for one in words if one.startswith("no ")]
    details = [one for one in words if not one.startswith("no ")]
    details += [
        part if isinstance(part, str) else _part_words(part) for part in line.get("parts") or ()
    ]
    if line.get("note"):
        details.append(f"note: {line['note']}")
    return joined(
        said,
        f"with {listed(details)}" if details else "",
        f"without {listed(without, 'or')}" if without else "",
    )


def _part_words(part: Mapping[str, Any]) -> str:
    named = " ".join(one for one in (part.get("size"), part.get("name")) if one)
    words = part.get("modifications") or ()
    return f"{named} ({', '.join(words)})" if words else named


def _to_be_had(section: Section) -> Sequence[Dish]:
    return [dish for dish in section.dishes if dish.available]


def _some(names: Sequence[str]) -> str:
    if len(names) <= _MOST:
        return listed(names)
    return f"{', '.join(names[:_MOST])}, and {len(names) - _MOST} more"


def _same(one: str, other: str) -> bool:
    def stem(word: str) -> str:
        return word.casefold().rstrip("s")

    return stem(one) == stem(other)
