"""From a YAML file to a menu: every part is read, then checked against the others (``checking``)."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from state.menu.checking import Card, check
from state.menu.document import Node, read_document, read_text
from state.menu.faults import Fault, MenuFaults
from state.menu.form import Form, Reading
from state.menu.house import read_house
from state.menu.menu import Menu
from state.menu.model import (
    Choice,
    Combo,
    ComboPart,
    CouponRule,
    Dish,
    OptionGroup,
    Section,
    Served,
    Span,
    Suggestion,
    Weekday,
)
from state.menu.serving import WEEKDAYS
from state.money import Cents

_MOST_COUNTED = 20
_CHOOSE = re.compile(r"([0-9]{1,4})(?:\s*-\s*([0-9]{1,4}))?")


def load_menu(path: Path) -> Menu:
    """Read a menu from its file.

    Raises:
        MenuFaults: Everything that is wrong with it, each with file and line.
    """
    return read_menu(read_text(path), str(path))


def read_menu(text: str, source: str) -> Menu:
    """Read a menu from a text; ``source`` names it in faults.

    Raises:
        MenuFaults: Everything that is wrong with it, each with its line.
    """
    node, faults = read_document(text, source)
    reading = Reading(source, faults)
    if node.kind != "mapping":
        raise MenuFaults(
            [*faults, Fault(source, node.line, "a menu has to be a mapping of keys to values")]
        )
    loader = _Loader(reading, Form(reading, node, "menu"))
    menu = loader.menu()
    if menu is None or reading.faults:
        raise MenuFaults(reading.faults)
    return menu


@dataclass
class _Loader:
    """Reads one menu; ``card`` keeps where each thing stood, for the checks that follow."""

    reading: Reading
    root: Form

    def __post_init__(self) -> None:
        self.card = Card(self.reading)

    def menu(self) -> Menu | None:
        """Read everything; a menu only comes of it when nothing is wrong."""
        root, card = self.root, self.card
        house = root.form("restaurant", "restaurant")
        restaurant = read_house(house) if house else None
        self._rates = tuple(restaurant.tax.rates) if restaurant else ()
        sizes = self._sizes()
        coupons = self._coupons()
        for name, node, _ in root.entries("options"):
            form = Form(self.reading, node, "group", f'the group "{name}"')
            card.groups[name] = (self._group(form, name), form)
        for form in root.forms("sections", "section"):
            card.sections.append((self._section(form), form))
        if root.has("sections") and not card.sections:
            root.fault(root.line_of("sections"), "sections has to name at least one section")
        for form in root.forms("combos", "combo"):
            card.combos.append((self._combo(form), form))
        suggestions = [self._suggestion(form) for form in root.forms("suggestions", "suggestion")]
        check(card)
        if restaurant is None or self.reading.faults:
            return None
        menu = Menu(
            version="",
            restaurant=restaurant,
            sizes=sizes,
            coupons=coupons,
            options={name: group for name, (group, _) in card.groups.items()},
            sections=tuple(section for section, _ in card.sections),
            combos=tuple(combo for combo, _ in card.combos),
            suggestions=tuple(suggestions),
        )
        content = menu.model_dump_json(exclude={"version"})
        version = hashlib.sha256(content.encode()).hexdigest()[:12]
        return menu.model_copy(update={"version": version})

    def _sizes(self) -> Mapping[str, tuple[str, ...]]:
        sizes: dict[str, tuple[str, ...]] = {}
        for name, node, line in self.root.entries("sizes"):
            aliases = [
                (text, item.line)
                for item in (node.items if node.kind == "list" else (node,))
                if item.kind != "nothing"
                and (text := self.root.text_of(item, f'a word for the size "{name}"'))
            ]
            self.card.sizes.append((name, aliases, line))
            sizes[name] = tuple(alias for alias, _ in aliases)
        return sizes

    def _coupons(self) -> Mapping[str, CouponRule]:
        coupons: dict[str, CouponRule] = {}
        for code, node, line in self.root.entries("coupons"):
            form = Form(self.reading, node, "coupon", f'the coupon "{code}"')
            if form.has("percent") == form.has("amount"):
                form.fault(line, f'the coupon "{code}" needs either "percent" or "amount"')
            percent, amount = form.percent("percent", above=True), form.money("amount")
            if amount == 0 and self.reading.decimals is not None:
                form.fault(form.line_of("amount"), f'the coupon "{code}" takes nothing off')
            coupons[code] = CouponRule(
                code=code,
                percent=percent,
                amount=amount,
                minimum=form.money("minimum") or Cents(0),
                until=form.day("until"),
                combinable=form.flag("combinable", False),
            )
        return coupons

    def _group(self, form: Form, name: str) -> OptionGroup:
        choices = tuple(
            self._choice(form, choice, node) for choice, node, _ in form.entries("choices")
        )
        if form.has("choices") and not choices:
            form.fault(form.line_of("choices"), f'the group "{name}" has no choices')
        counted = form.flag("counted", False)
        default = form.text("default")
        if default is not None:
            known = [choice.name for choice in choices]
            default = self._refer(form, "default", f"choice of {name}", known)
        least, most = self._choose(form, len(choices), counted, default)
        amounts = {
            word.casefold(): factor
            for word, node, _ in form.entries("amounts")
            if (factor := form.number(node, f'the amount "{word}"', most=100)) is not None
        }
        return OptionGroup(
            name=name,
            aliases=form.texts("aliases"),
            least=least,
            most=most,
            default=default,
            counted=counted,
            halves="half" in form.words("portions", ("half",)),
            amounts=amounts,
            choices=choices,
        )

    def _choose(
        self, form: Form, choices: int, counted: bool, default: str | None
    ) -> tuple[int, int]:
        node = form.value("choose")
        if node is None or node.kind == "nothing":
            return (1, 1) if default else (0, _MOST_COUNTED if counted else max(choices, 1))
        match = _CHOOSE.fullmatch(node.text.strip()) if node.kind == "text" else None
        if match is None:
            form.fault(node.line, 'choose has to be a number or a range like "0-3"')
            return 0, max(choices, 1)
        least = int(match[1])
        most = least if match[2] is None else int(match[2])
        if most < least or most == 0:
            why = "ends below its start" if most < least else "allows no choice at all"
            form.fault(node.line, f'choose: "{node.text}" {why}')
        elif not counted and least > choices > 0:
            form.fault(node.line, f"choose asks for {least} of only {choices} choices")
        return least, most

    def _choice(self, group: Form, name: str, node: Node) -> Choice:
        free: dict[str | None, Cents] = {None: Cents(0)}
        if node.kind != "mapping":
            price = None
            if node.kind == "list":
                group.fault(node.line, f'the choice "{name}" has to be a price or a mapping')
            elif node.kind == "text":
                price = group.amount(node, f'the price of "{name}"')
            return Choice(name=name, prices=free if price is None else {None: price})
        form = Form(group.reading, node, "choice_details", f'the choice "{name}"')
        return Choice(
            name=name,
            aliases=form.texts("aliases"),
            prices=form.prices("price") or free,
            allergens=form.texts("allergens"),
            diets=form.texts("diets"),
            available=form.flag("available", True),
        )

    def _section(self, form: Form) -> Section:
        name = form.name() or ""
        dishes: list[Dish] = []
        for dish_form in form.forms("dishes", "dish"):
            dish = self._dish(dish_form, name)
            self.card.dishes.append((dish, dish_form))
            dishes.append(dish)
        listed = form.value("dishes")
        if listed is not None and listed.kind == "list" and not dishes:
            form.fault(listed.line, f'the section "{name}" has no dishes')
        return Section(
            name=name, aliases=form.texts("aliases"), dishes=tuple(dishes), served=_served(form)
        )

    def _dish(self, form: Form, section: str) -> Dish:
        name = form.name() or ""
        contains = form.texts("with")
        extra: dict[str, Mapping[str | None, Cents]] = {}
        for said, node, line in form.entries("extra"):
            word = self.card.refer(said, line, f'word in "with" of "{name}"', contains)
            cost = form.prices_of(node, f'the price of extra "{said}"')
            if word is not None and cost is not None:
                extra[word] = cost
        prices = form.prices("price") or {None: Cents(0)}
        sizes = [size for size in prices if size is not None]
        options = [
            self.card.refer(group, line, "option group", self.card.groups)
            for group, line in form.located("options")
        ]
        return Dish(
            name=name,
            section=section,
            aliases=form.texts("aliases"),
            description=form.text("description"),
            prices=prices,
            default_size=self._refer(form, "default_size", f'size of "{name}"', sizes),
            contains=contains,
            extra=extra,
            options=tuple(group for group in options if group is not None),
            diets=form.texts("diets"),
            allergens=form.texts("allergens"),
            tax=self._refer(form, "tax", "tax rate", self._rates),
            minimum_age=form.whole("minimum_age", 0) or None,
            available=form.flag("available", True),
            served=_served(form),
        )

    def _combo(self, form: Form) -> Combo:
        name = form.name() or ""
        parts = tuple(
            ComboPart(choose=part.whole("choose", 1), dishes=self._part_dishes(part))
            for part in form.forms("parts", "part")
        )
        if form.has("parts") and not parts:
            form.fault(form.line_of("parts"), f'the combo "{name}" has no parts')
        return Combo(
            name=name,
            aliases=form.texts("aliases"),
            description=form.text("description"),
            price=form.money("price") or Cents(0),
            parts=parts,
            available=form.flag("available", True),
            served=_served(form),
        )

    def _part_dishes(self, part: Form) -> tuple[str, ...]:
        dishes = {dish.name.casefold(): dish.name for dish, _ in self.card.dishes}
        sections = {section.name.casefold(): section for section, _ in self.card.sections}
        found: list[str] = []
        for name, line in part.located("from"):
            if name.casefold() in dishes:
                found.append(dishes[name.casefold()])
            elif name.casefold() in sections:
                found += [dish.name for dish in sections[name.casefold()].dishes]
            else:
                known = [*dishes.values(), *(section.name for section in sections.values())]
                self.card.refer(name, line, "dish or section", known)
        if part.has("from") and not part.texts("from"):
            part.fault(part.line_of("from"), "from names no dish")
        return tuple(dict.fromkeys(found))

    def _suggestion(self, form: Form) -> Suggestion:
        offered = [dish.name for dish, _ in self.card.dishes]
        offered += [combo.name for combo, _ in self.card.combos]
        ordered = [*offered, *(section.name for section, _ in self.card.sections)]
        return Suggestion(
            after=self._refer(form, "after", "section, dish or combo", ordered) or "",
            offer=self._refer(form, "offer", "dish or combo", offered) or "",
        )

    def _refer(self, form: Form, key: str, kind: str, known: Iterable[str]) -> str | None:
        name = form.text(key)
        return None if name is None else self.card.refer(name, form.line_of(key), kind, known)


def _served(form: Form) -> tuple[Served, ...]:
    all_day = Span.model_validate({"start": "00:00", "end": "00:00"})
    served: list[Served] = []
    for when in form.forms("served", "served_when", single=True):
        days: tuple[Weekday, ...] = when.words("days", WEEKDAYS)
        hours = when.value("hours") if when.has("hours") else None
        spans = when.spans(hours, "hours") if hours is not None else (all_day,)
        served.append(Served(days=days or WEEKDAYS, spans=spans or (all_day,)))
    return tuple(served)
