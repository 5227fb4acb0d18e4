"""Strategies for menus in YAML, and for orders from them."""

from dataclasses import dataclass
from typing import Any

import yaml
from hypothesis import strategies as st

from state.commands import AddItem
from state.menu import Menu, read_menu

Card = dict[str, Any]

DISHES = (
    *("Margherita", "Lasagne", "Couscous", "Bouillabaisse", "Schnitzel", "Burrito", "Falafel"),
    *("Ratatouille", "Gyudon", "Pancake", "Zabaglione"),
)
CONTENTS = ("tomato", "basil", "walnuts", "cabbage", "yoghurt", "chicory", "mustard")
CHOICES = (
    *("ham", "olives", "mushrooms", "pineapple", "jalapeno", "sprouts", "artichoke", "feta"),
    *("zucchini", "lardons", "oysters", "quinoa"),
)
SIZES = ("small", "medium", "large")
DECIMALS = {"USD": 2, "EUR": 2, "JPY": 0, "KWD": 3}

_rates = st.sampled_from(["0", "5", "7.7", "8.875", "10", "19", "20", "24.999", "100"])
_percents = st.sampled_from(["0.5", "3", "7.25", "10", "12.5", "33.33", "50", "99.99", "100"])


@dataclass(frozen=True)
class Wish:
    """One thing that is different from the card.

    Args:
        group: The option group; ``None`` for what is in the dish.
        name: The choice, or what is in it.
        amount: ``no``, ``light``, ``extra`` or ``on the side``.
        portion: ``half`` or ``other half``.
        count: How many.
        usual: Whether it is what is taken anyway.
    """

    group: str | None
    name: str
    amount: str | None = None
    portion: str | None = None
    count: int = 1
    usual: bool = False

    @property
    def words(self) -> str:
        if self.amount == "on the side":
            return f"{self.name} on the side"
        count = str(self.count) if self.count > 1 else None
        return " ".join(word for word in (self.portion, self.amount, count, self.name) if word)


@dataclass(frozen=True)
class Wanted:
    """A dish or combo as a guest wants it."""

    name: str
    size: str | None = None
    quantity: int = 1
    wishes: tuple[Wish, ...] = ()
    parts: tuple["Wanted", ...] = ()

    def command(self, quantity: int | None = None) -> AddItem:
        """Put it on the order."""
        parts = [
            {
                "name": part.name,
                "size": part.size,
                "modifications": [wish.words for wish in part.wishes],
            }
            for part in self.parts
        ]
        return AddItem.model_validate(
            {
                "name": self.name,
                "size": self.size,
                "quantity": quantity or self.quantity,
                "modifications": [wish.words for wish in self.wishes],
                "parts": parts or None,
            }
        )


def menu_of(card: Card) -> Menu:
    """Read a menu from its YAML text."""
    return read_menu(yaml.safe_dump(card, sort_keys=False, allow_unicode=True), "card.yaml")


@st.composite
def cards(draw: st.DrawFn, combos: int = 0, most: int = 4000) -> Card:
    """Draw a card of a few dishes, sound in every way.

    Args:
        draw: Draws.
        combos: How many combos there are at least.
        most: The highest price; a low one makes many things cost the same.
    """
    currency = draw(st.sampled_from(sorted(DECIMALS)))
    money = amounts(DECIMALS[currency], most)
    sizes = SIZES[: draw(st.integers(2, 3))]
    each: dict[str, st.SearchStrategy[str]] = dict.fromkeys(sizes, money)
    prices = st.fixed_dictionaries(each)
    names = draw(st.permutations(DISHES))
    sized = [draw(st.booleans()) for _ in range(draw(st.integers(1, 4)))]
    rates = draw(st.dictionaries(st.sampled_from(["food", "wine", "books"]), _rates, max_size=3))
    groups = draw(_groups(money, prices, any(sized)))
    dishes = []
    for name, has_sizes in zip(names, sized, strict=False):
        usable = [group for group in groups if has_sizes or not _by_size(groups[group])]
        contents = draw(st.lists(st.sampled_from(CONTENTS), max_size=3, unique=True))
        options = draw(st.lists(st.sampled_from(usable), unique=True)) if usable else []
        dish: Card = {
            "name": name,
            "price": draw(prices) if has_sizes else draw(money),
            "with": contents,
            "options": options,
            "extra": {word: draw(money) for word in contents if draw(st.booleans())},
        }
        if draw(st.booleans()) and rates:
            dish["tax"] = draw(st.sampled_from(sorted(rates)))
        if has_sizes and draw(st.booleans()):
            dish["default_size"] = draw(st.sampled_from(sizes))
        dishes.append(dish)
    for group in list(groups):
        if _by_size(groups[group]) and not any(group in dish["options"] for dish in dishes):
            del groups[group]
    return {
        "restaurant": draw(_houses(currency, rates, money)),
        "options": groups,
        "coupons": draw(_coupons(money)),
        "sections": [{"name": "Everything", "dishes": dishes}],
        "combos": draw(_combos([dish["name"] for dish in dishes], money, combos)),
    }


def amounts(decimals: int, most: int = 4000) -> st.SearchStrategy[str]:
    """Draw amounts of money as people write them."""
    return st.integers(0, most).map(lambda amount: written(amount, decimals))


def written(amount: int, decimals: int) -> str:
    """Write whole minor units as people do."""
    whole, part = divmod(amount, 10**decimals)
    return f"{whole}.{part:0{decimals}d}" if decimals else str(whole)


def orders(card: Card, most: int = 5) -> st.SearchStrategy[list[Wanted]]:
    """Draw what a guest wants from a card, no two things alike."""
    wanted = [_dish(card, dish, st.integers(1, 9)) for dish in card["sections"][0]["dishes"]]
    wanted += [_combo(card, combo) for combo in card["combos"]]
    different = st.lists(st.one_of(wanted), min_size=1, max_size=most, unique_by=_made_of)
    return different


def _made_of(wanted: Wanted) -> tuple[object, ...]:
    parts = sorted(map(repr, map(_made_of, wanted.parts)))
    wishes = frozenset(wish for wish in wanted.wishes if not wish.usual)
    return wanted.name, wanted.size, wishes, tuple(parts)


def _by_size(group: Card) -> bool:
    return any(isinstance(choice["price"], dict) for choice in group["choices"].values())


@st.composite
def _groups(
    draw: st.DrawFn,
    money: st.SearchStrategy[str],
    prices: st.SearchStrategy[dict[str, str]],
    sized: bool,
) -> Card:
    groups: Card = {}
    choices = list(draw(st.permutations(CHOICES)))
    for name in ("sauce", "topping", "filling")[: draw(st.integers(0, 3))]:
        mine = [choices.pop() for _ in range(draw(st.integers(1, 4)))]
        by_size = sized and draw(st.booleans())
        group: Card = {
            "choices": {
                choice: {"price": draw(prices) if by_size else draw(money)} for choice in mine
            }
        }
        match draw(st.sampled_from(["one", "default", "several", "counted"])):
            case "one":
                group |= {"choose": 1}
            case "default":
                group |= {"choose": 1, "default": mine[0]}
            case "several":
                light, extra = draw(st.sampled_from(["0.5", "1"])), draw(st.sampled_from("123"))
                group |= {"choose": "0-9", "amounts": {"light": light, "extra": extra}}
                group |= {"portions": ["half"]} if draw(st.booleans()) else {}
            case _:
                group |= {"choose": "0-20", "counted": True}
        groups[name] = group
    return groups


@st.composite
def _houses(draw: st.DrawFn, currency: str, rates: Card, money: st.SearchStrategy[str]) -> Card:
    return {
        "id": "house",
        "name": "The House",
        "currency": currency,
        "timezone": "America/New_York",
        "hours": {"friday": "00:00-24:00", "saturday": "00:00-24:00"},
        "service": {
            "pickup": {"lead_minutes": 10},
            "delivery": {"lead_minutes": 10, "fee": draw(money)},
        },
        "tax": {
            "mode": draw(st.sampled_from(["added", "included"])),
            "rounding": draw(st.sampled_from(["per_rate", "per_line"])),
            "rates": rates,
        },
        "tip": {"base": draw(st.sampled_from(["subtotal", "total"])), "maximum": 40},
    }


@st.composite
def _coupons(draw: st.DrawFn, money: st.SearchStrategy[str]) -> Card:
    coupons: Card = {}
    for code in ("ONE", "TWO", "THREE")[: draw(st.integers(0, 3))]:
        worth = {"percent": draw(_percents)}
        if draw(st.booleans()):
            worth = {"amount": draw(money.filter(lambda amount: float(amount) > 0))}
        coupons[code] = {**worth, "minimum": draw(money), "combinable": True}
    return coupons


@st.composite
def _combos(
    draw: st.DrawFn, dishes: list[str], money: st.SearchStrategy[str], least: int
) -> list[Card]:
    some = st.lists(st.sampled_from(dishes), min_size=1, max_size=3, unique=True)
    parts = st.fixed_dictionaries({"choose": st.integers(1, 2), "from": some})
    return [
        {"name": name, "price": draw(money), "parts": draw(st.lists(parts, min_size=1, max_size=2))}
        for name in ("Nightcap", "Breakfast")[: draw(st.integers(least, 2))]
    ]


@st.composite
def _dish(draw: st.DrawFn, card: Card, dish: Card, quantity: st.SearchStrategy[int]) -> Wanted:
    sizes = [*dish["price"]] if isinstance(dish["price"], dict) else [None]
    wishes = [
        Wish(None, content, draw(st.sampled_from(["no", "light", "extra", "on the side"])))
        for content in draw(_some(dish["with"], 2))
    ]
    for name in dish["options"]:
        wishes += draw(_picks(name, card["options"][name]))
    return Wanted(
        dish["name"], draw(st.sampled_from(sizes)), draw(quantity), tuple(draw(_shuffled(wishes)))
    )


@st.composite
def _combo(draw: st.DrawFn, card: Card, combo: Card) -> Wanted:
    by_name = {dish["name"]: dish for dish in card["sections"][0]["dishes"]}
    parts = [
        draw(_dish(card, by_name[draw(st.sampled_from(part["from"]))], st.just(1)))
        for part in combo["parts"]
        for _ in range(part["choose"])
    ]
    return Wanted(combo["name"], quantity=draw(st.integers(1, 9)), parts=tuple(parts))


@st.composite
def _picks(draw: st.DrawFn, name: str, group: Card) -> list[Wish]:
    choices = [*group["choices"]]
    if group["choose"] == 1:
        if "default" in group and draw(st.booleans()):
            return []
        choice = draw(st.sampled_from(choices))
        return [Wish(name, choice, usual=choice == group.get("default"))]
    picked = draw(_some(choices, 3))
    if group.get("counted"):
        return [Wish(name, choice, count=draw(st.integers(1, 3))) for choice in picked]
    wishes: list[Wish] = []
    for choice in picked:
        amount = draw(st.sampled_from([None, "light", "extra", "on the side"]))
        portion = None
        if "portions" in group and amount != "on the side":
            portion = draw(st.sampled_from([None, "half", "other half"]))
        wishes.append(Wish(name, choice, amount, portion))
    return wishes


def _some(things: list[str], most: int) -> st.SearchStrategy[list[str]]:
    if not things:
        return st.just([])
    return st.lists(st.sampled_from(things), max_size=most, unique=True)


def _shuffled(wishes: list[Wish]) -> st.SearchStrategy[list[Wish]]:
    return st.permutations(wishes)
