"""Answers to what guests ask, from the menu and the order as data, and from nowhere else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from bella_vista.local.english import vocabulary
from bella_vista.local.english.sentences import (
    called,
    foods_of,
    joined,
    line_words,
    listed,
    number,
    say,
    some,
)
from bella_vista.local.english.talking import pattern, table, words_of
from bella_vista.local.understanding.meaning import Asked, minor
from bella_vista.local.understanding.statements.questions import lists
from bella_vista.local.understanding.words.tokens import number_at, tokenize
from state.allergens import allergens_met, dishes_with, held_by, is_mentioned
from state.contact import postcode_in
from state.errors import OrderError
from state.hours import KINDS, earliest, hours_text, is_open, next_opening, opening_spans
from state.menu import Choice, Combo, Dish, Menu, OptionGroup, Section
from state.menu.families import families_named, families_of, is_declared
from state.menu.model import WEEKDAYS
from state.menu.words import stems
from state.money import Cents, parse, shown
from state.times import said_time

_FEW_CHOICES = 4
"""So many choices of a group at most are named with it."""


class Answers:
    """Answers questions about one menu.

    Args:
        menu: The menu and the house.
    """

    def __init__(self, menu: Menu) -> None:
        self._menu = menu
        self._house = menu.restaurant

    def answer(self, asked: Asked, order: Mapping[str, Any], now: datetime) -> str:
        """Answer one question in a sentence or two.

        Args:
            asked: The question.
            order: The order as data.
            now: The present time, in the restaurant's zone.
        """
        subject = asked.subject
        allergies = [str(one) for one in order.get("allergies") or ()]
        match asked.kind:
            case "price" if asked.aspect == "under":
                return self._under(asked)
            case "price" if asked.aspect == "sizes" and not self._menu.dish(subject or ""):
                return self._sizes(subject)
            case "price" if asked.words in ("cheapest", "dearest"):
                return self._extreme(asked)
            case "price":
                return self._price(asked, order)
            case "contents" if asked.aspect:
                return self._told_of(subject, asked.aspect)
            case "contents" if subject is None and asked.words and not self._names(asked.words):
                return say("not_on_menu", words=asked.words)
            case "contents":
                told = self._contents(subject)
                if unsaid := self._unsaid(asked, told):
                    told = joined(told.replace(say("contents nothing", name=subject), ""), unsaid)
                return joined(told, self._for(subject, allergies))
            case "allergens" if asked.aspect and asked.allergen:
                return self._of_all(asked.allergen, subject, without=asked.aspect == "without")
            case "allergens" if asked.aspect == "without":
                return self._without(allergies, subject)
            case "allergens" if " or " in (asked.allergen or ""):
                each = (replace(asked, allergen=one) for one in str(asked.allergen).split(" or "))
                return joined(*(self.answer(one, order, now) for one in each))
            case "allergens":
                told = self._allergens(asked, order)
                return joined(told, self._unsaid(asked, told))
            case "diets":
                return self._diets(asked)
            case "menu" if asked.aspect:
                return self._among(asked)
            case "menu" if asked.words == "like":
                return self._like(subject)
            case "menu" if asked.words == "recommended":
                return joined(say("recommended"), self._offered(subject, allergies))
            case "section":
                return self._offered(subject, allergies, only=asked.aspect == "without")
            case "menu":
                return joined(self._had(asked), self._against_choices(asked, allergies))
            case "hours":
                told = hours_text(self._house, now)
                if asked.day == "now" and is_open(
                    self._house, now
                ):  # "until when are you open?" wants no table
                    return f"{told.removesuffix('.').partition('. ')[0]}."
                return self._day(asked.day, now) or told
            case "total" if asked.words:
                return self._percent(asked.words, order)
            case "total":
                return self._itemised(order) if order.get("items") else so_far(order)
            case "order" if asked.aspect == "number":
                return say("order number", number=order.get("number"))
            case "order":
                return so_far(order)
            case "service":
                return self._area(asked.words) or self._service(asked.aspect, order, now)
            case "payment":
                return self._payment(asked.words)
            case "facts" if subject == "coupons":
                return self._coupon(asked.words, now)
            case "facts":
                return self._fact(subject)
        return ""

    def _money(self, amount: Cents) -> str:
        return shown(amount, self._house.currency)

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

    # -- prices --------------------------------------------------------------------------------------

    def _extreme(self, asked: Asked) -> str:
        priced = self._priced(asked.subject)
        if not priced:
            return self._section(asked.subject)
        pick = max if asked.words == "dearest" else min
        amount = pick(price for price, _ in priced)
        names = [dish.name for price, dish in priced if price == amount]
        several = " several" if len(names) > 1 else ""
        return say(f"price extreme{several}", names=some(names), price=self._money(amount))

    def _priced(self, section: str | None) -> list[tuple[Cents, Dish]]:
        """Return what is to be had of one section, or of all, with the least that each costs."""
        of_it = self._menu.section(section) if section else None
        dishes = of_it.dishes if of_it is not None else self._menu.dishes
        return [(min(dish.prices.values()), dish) for dish in dishes if dish.available]

    def _under(self, asked: Asked) -> str:
        most = parse(asked.words or "0", self._house.currency)
        names = [dish.name for price, dish in self._priced(asked.subject) if price <= most]
        return say("price under", names=some(names), price=self._money(most))

    def _sizes(self, name: str | None) -> str:
        """Say which sizes the dishes of a section come in; where they differ, what it holds."""
        section = self._menu.section(name) if name else None
        if section is None:
            return say("sizes which")
        sizes = {tuple(dish.sizes) for dish in section.dishes if len(dish.prices) > 1}
        if len(sizes) != 1:
            return self._section(name)
        return say("sizes", name=section.name, sizes=sizes.pop())

    def _price(self, asked: Asked, order: Mapping[str, Any]) -> str:
        item = self._item(asked.subject)
        if item and item.name != asked.subject and (choice := self._choice_price(asked.subject)):
            return choice  # burrata that is put on a dish
        if isinstance(item, Combo):
            return say("price", name=f"the {item.name}", price=self._money(item.price))
        if isinstance(item, Dish):
            sold_out = "" if item.available else say("sold out today")
            if asked.size in item.prices:
                size = f"{asked.size} " if asked.size else ""
                price = self._money(item.prices[asked.size])
                return joined(say("price", name=f"the {size}{item.name}", price=price), sold_out)
            prices = [f"{size} {self._money(item.prices[size])}" for size in item.sizes]
            return joined(say("price sizes", name=item.name, prices=prices), sold_out)
        if choice := self._choice_price(asked.subject):
            return choice
        return self._itemised(order) if order.get("items") else say("price which")

    def _itemised(self, order: Mapping[str, Any]) -> str:
        """Say what each line costs, and all that is added to them or taken off."""
        tax_and_tip = {name: order[name] for name in ("tax", "tip") if order.get(name)}
        amounts = (
            *(("price", line_words(line), line["price"]) for line in order["items"]),
            *(("off", *one) for one in (order.get("discounts") or {}).items()),
            *(("price", *one) for one in ({**(order.get("fees") or {}), **tax_and_tip}).items()),
        )
        parts = [say(f"line {kind}", line=name, price=amount) for kind, name, amount in amounts]
        return say("itemised", lines=listed(parts), total=order["total"])

    def _choice_price(self, name: str | None) -> str:
        for group in self._menu.options.values():
            for choice in group.choices:
                if name is not None and choice.name.casefold() == name.casefold():
                    amounts = sorted(set(choice.prices.values()))
                    least, most = self._money(amounts[0]), self._money(amounts[-1])
                    if amounts == [0]:
                        return say("price free", name=choice.name)
                    price = least if least == most else None
                    return say("price extra", name=choice.name, price=price, least=least, most=most)
        return ""

    def _percent(self, percent: str, order: Mapping[str, Any]) -> str:
        """Say how much a part of the bill is: "how much is fifteen percent?"."""
        prices = [minor(line["price"]) or 0 for line in order.get("items") or ()]
        base = minor(order.get("subtotal")) or sum(prices)
        if self._house.tip.base == "total":
            base = minor(order.get("total")) or 0
        if not base:
            return so_far(order)
        amount = Cents((base * int(percent) + 50) // 100)
        return say(
            "percent of", percent=percent, base=self._money(Cents(base)), amount=self._money(amount)
        )

    def _coupon(self, code: str | None, now: datetime) -> str:
        known = self._menu.coupons.get(code.upper()) if code is not None else None
        if known is None:
            return say("coupon unknown", code=code)
        over = known.until is not None and known.until < now.date()
        return say("coupon over" if over else "coupon known", code=code)

    # -- dishes --------------------------------------------------------------------------------------

    def _contents(self, name: str | None) -> str:
        item = self._item(name)
        if item is None and (choice := self._choice(name)) is not None:
            return say("contents nothing", name=choice.name)
        if item is None:
            return say("contents which")
        if isinstance(item, Combo):
            parts = [
                say("contents part", count=number(part.choose), dishes=part.dishes)
                for part in item.parts
            ]
            return say("contents combo", name=item.name, parts=parts, price=self._money(item.price))
        if not item.available:
            told = say("contents", name=item.name, description=item.description)
            return joined(told, say("sold out today"))
        groups = [_with_choices(group) for group in self._menu.groups(item) if group.choices]
        told = joined(
            say("contents", name=item.name, description=item.description, contains=item.contains),
            say("contents choices", groups=groups),
        )
        return told or say("contents nothing", name=item.name)

    def _unsaid(self, asked: Asked, told: str) -> str:
        """Offer a person where the menu does not say what was asked of a dish: "is it alcoholic?"."""
        item, wanted = self._item(asked.subject), {*stems(asked.words or "")}
        if item is None or not wanted or wanted & {*stems(told)}:
            return ""
        groups = self._menu.groups(item) if isinstance(item, Dish) else ()
        choices = [choice.name for group in groups for choice in group.choices]
        if had := [name for name in choices if wanted & {*stems(name)}]:
            return say("had choice", name=item.name, choices=some(had, "or"))
        if isinstance(item, Dish) and item.minimum_age and wanted & words_of("words of alcohol"):
            return say("reading age", names=[item.name])
        return say("unsaid", words=asked.words, name=item.name)

    def _told_of(self, name: str | None, aspect: str) -> str:
        """Say what the menu tells of how spicy or how big a dish is: its description, or a choice of it."""
        item = self._item(name)
        if item is None and (choice := self._choice(name)) is not None:
            return say(aspect, name=choice.name)
        if item is None:
            return say(f"{aspect} which")
        contains, groups = (
            (item.contains, self._menu.groups(item)) if isinstance(item, Dish) else ((), ())
        )
        told = say("contents", name=item.name, description=item.description, contains=contains)
        if aspect == "size" and isinstance(item, Dish):
            if _has_number(item.description or ""):
                return told  # "Small is for two, large for four."
            if any(map(_has_number, item.sizes)):
                return self._price(Asked("price", item.name, aspect="sizes"), {})
        of_it = {word for one in words_of(f"words of {aspect}") for word in stems(one)}
        told_by = [
            group.name
            for group in groups
            if any(of_it & {*stems(choice.name)} for choice in group.choices)
            and of_it & {*stems(group.name)}
        ]
        if told_by:
            return joined(told, say("contents choices", groups=told_by))
        return told if of_it & {*stems(told)} else say(aspect, name=item.name)

    def _like(self, name: str | None) -> str:
        """Name the dishes of the same section that share most with one."""
        item = self._item(name)
        if not isinstance(item, Dish):
            return say("like nothing")
        own = self._told(item)
        shared = [
            (len(own & self._told(dish)), dish)
            for dish in self._menu.dishes
            if dish.section == item.section and dish.available and dish.name != item.name
        ]
        most = max((score for score, _ in shared), default=0)
        near = [dish.name for score, dish in shared if score == most][:3]
        return say("like several", name=item.name, others=near) or say("like nothing")

    def _among(self, asked: Asked) -> str:
        """Name the dishes that have an ingredient, or those that do not."""
        words, having = str(asked.words), asked.aspect == "with"
        names = [
            dish.name
            for dish in self._menu.dishes
            if dish.available
            and asked.subject in (None, dish.section)
            and lists(dish, words) is having
        ]
        return say("among" if having else "among without", words=words, names=names)

    def _told(self, dish: Dish) -> frozenset[str]:
        told = (dish.name, dish.description or "", *dish.contains, *dish.options)
        return frozenset(word for one in told for word in stems(one))

    def _allergens(self, asked: Asked, order: Mapping[str, Any]) -> str:
        item, allergen = self._item(asked.subject), asked.allergen
        names = [item.name] if item is not None else []
        choice = self._choice(asked.subject) if item is None else None
        if choice is not None and allergen:
            met = called(allergens_met([allergen], (choice.name, *choice.allergens)))
            return say("allergen", met=met, allergen=listed(foods_of([allergen])), name=choice.name)
        if item is None:
            if asked.subject and allergen is None:
                return say("allergens unknown dish", words=asked.subject)
            names = [line["name"] for line in order.get("items") or ()]
        if allergen and not (is_mentioned(self._menu, allergen) or self._listing(allergen)):
            return self.not_mentioned([allergen])
        if not names:
            return self._dishes_with(allergen) if allergen else say("allergens which")
        if not allergen and (of_guest := [str(one) for one in order.get("allergies") or ()]):
            told = [self._for(name, of_guest) for name in dict.fromkeys(names)]
            return joined(*told, self.not_mentioned(of_guest))
        told = [
            self._holds(name, allergen)
            if allergen
            else say("allergens", name=name, listed=self.allergens(name))
            for name in dict.fromkeys(names)
        ]
        return joined(*told)

    def _holds(self, name: str, allergen: str) -> str:
        item = self._item(name)
        met = allergens_met([allergen], held_by(self._menu, item)) if item is not None else ()
        if not met and item in self._listing(allergen):
            met = (allergen,)
        told = say("allergen", met=called(met), allergen=listed(foods_of([allergen])), name=name)
        if met or is_declared(allergen):
            return told
        return joined(told, self._contents(name))  # no menu has to declare pork

    def _listing(self, ingredient: str) -> list[Dish]:
        """Return the dishes for which the menu names an ingredient, allergen or not."""
        return [dish for dish in self._menu.dishes if lists(dish, ingredient)]

    def _choice(self, name: str | None) -> Choice | None:
        """Return a choice of any group by its name."""
        choices = (one for group in self._menu.options.values() for one in group.choices)
        return next((one for one in choices if name and one.name == name), None)

    def _of_all(self, allergen: str, section: str | None, *, without: bool) -> str:
        """Name the dishes for which the menu lists an allergen, or does not: "anything gluten free?"."""
        if not (is_mentioned(self._menu, allergen) or self._listing(allergen)):
            return self.not_mentioned([allergen])
        if without:
            return self._without(allergen.split(" or "), section)
        return self._dishes_with(allergen, section) or self._without([allergen], section)

    def _dishes_with(self, allergen: str, section: str | None = None) -> str:
        names = [
            dish.name
            for dish in dishes_with(self._menu, allergen) or self._listing(allergen)
            if section in (None, dish.section)
        ]
        families = families_of(allergen) or (allergen,)
        return say("allergen dishes", called=families, names=some(names))

    def _without(self, allergies: Sequence[str], section: str | None) -> str:
        """Name the dishes for which the menu lists none of the guest's allergies: "what can she have?"."""
        names = [
            dish.name
            for dish in self._menu.dishes
            if dish.available and not allergens_met(allergies, held_by(self._menu, dish))
            if section in (None, dish.section)
        ]
        if not allergies:
            return self._section(section)
        told = say("among without", words=listed(foods_of(allergies), "or"), names=names)
        return joined(told, self.not_mentioned(allergies))

    def _offered(self, section: str | None, allergies: Sequence[str], *, only: bool = False) -> str:
        """Name the dishes of a section, and those that list none of the guest's allergies."""
        fit = self._without(allergies, section) if allergies else ""
        return fit if only and fit else joined(self._section(section), fit)

    def _against_choices(self, asked: Asked, allergies: Sequence[str]) -> str:
        """Warn of choices that list what the guest is allergic to: "what bread do you have?"."""
        choices = self._choices(asked)
        held = {one.name: allergens_met(allergies, (one.name, *one.allergens)) for one in choices}
        return careful({name: met for name, met in held.items() if met})

    def not_mentioned(self, allergies: Sequence[str]) -> str:
        """Say which of the guest's allergies the menu says nothing about, and offer a person."""
        unknown = [one for one in allergies if not is_mentioned(self._menu, one)]
        return say("allergy unknown", allergies=foods_of(unknown))

    def against(self, name: str | None, allergies: Sequence[str]) -> str:
        """Warn of a dish, or of what can be in a combo, that lists what the guest is allergic to."""
        item = self._item(name)
        met = allergens_met(allergies, held_by(self._menu, item)) if item is not None else ()
        return careful({item.name: met}) if item is not None and met else ""

    def _for(self, name: str | None, allergies: Sequence[str]) -> str:
        """Say what the menu lists of a guest's allergies for a dish, or that it lists none of them."""
        known = [one for one in allergies if is_mentioned(self._menu, one)]
        if not known or (item := self._item(name)) is None:
            return ""
        none = say("allergen", allergen=listed(foods_of(known), "or"), name=item.name)
        return self.against(name, allergies) or none

    def allergens(self, name: str) -> tuple[str, ...]:
        """Name what the menu lists for a dish, or for all that can be in a combo, and what its ingredients tell."""
        item = self._item(name)
        if isinstance(item, Dish):
            stated = self._menu.allergens(item)
            known = families_named(stated)
            inside = families_named(held_by(self._menu, item))
            return (*stated, *(family for family in inside if family not in known))
        parts = item.parts if item is not None else ()
        found = (one for part in parts for dish in part.dishes for one in self.allergens(dish))
        return tuple(dict.fromkeys(found))

    def _diets(self, asked: Asked) -> str:
        item, diet = self._item(asked.subject), asked.diet
        if isinstance(item, Dish):
            if diet:
                fits = any(stems(diet) == stems(one) for one in item.diets)
                return say("diet" if fits else "diet not", name=item.name, diet=diet)
            return say("diets", name=item.name, diets=item.diets)
        if diet and (choice := self._choice(asked.subject)) is not None:
            fits = any(stems(diet) == stems(one) for one in choice.diets)
            return say("diet" if fits else "diet not", name=choice.name, diet=diet)
        fitting = [
            dish.name
            for dish in self._menu.dishes
            if dish.available and diet and any(stems(diet) == stems(one) for one in dish.diets)
        ]
        return say("diet dishes", diet=diet, names=some(fitting))

    def _had(self, asked: Asked) -> str:
        """Say whether something is to be had: a dish, or the choices of a group."""
        item = None if asked.groups else self._item(asked.subject)
        if item is not None and not getattr(item, "available", True):
            return say("sold_out", name=item.name)
        if item is not None:
            return say("had", answer=self._price(Asked("price", item.name), {}))
        choices = dict.fromkeys(choice.name for choice in self._choices(asked))
        if choices:
            return say("had group", group=asked.subject, choices=list(choices))
        if asked.words:
            food = any(map(vocabulary.is_food, asked.words.split()))
            return say("not_on_menu", words=asked.words) if food else say("fact unknown")
        priced = self._choice_price(asked.subject)
        return say("had", answer=priced) if priced else self._section(None)

    def _choices(self, asked: Asked) -> list[Choice]:
        """Return the choices of the groups that are asked for."""
        groups = asked.groups or (asked.subject,)
        of_them = (one for one in self._menu.options.values() if one.name in groups)
        return list({choice.name: choice for one in of_them for choice in one.choices}.values())

    def _names(self, words: str) -> bool:
        """Whether a word of some is in the name of a dish."""
        said = {*stems(words)}
        dishes: list[Dish | Combo] = [*self._menu.dishes, *self._menu.combos]
        return any(said & {*stems(name)} for one in dishes for name in (one.name, *one.aliases))

    def _section(self, name: str | None) -> str:
        section = self._menu.section(name) if name else None
        if section is None:
            names = [section.name for section in self._menu.sections if section.dishes]
            return say("sections", names=names)
        return say("section", name=section.name, entries=self._entries(section))

    def _entries(self, section: Section) -> str:
        entries = [
            say(
                "from" if len(dish.prices) > 1 else "at",
                name=dish.name,
                price=self._money(min(dish.prices.values())),
            )
            for dish in section.dishes
            if dish.available
        ]
        return some(entries)

    # -- the house -----------------------------------------------------------------------------------

    def _day(self, day: str | None, now: datetime) -> str:
        """Say the hours of one day: "are you open tomorrow?"."""
        if day is None:
            return ""
        near = {"now": 0, "today": 0, "tomorrow": 1}
        if day in table("holidays"):
            on = _next_date(day, now)
        else:
            ahead = near[day] if day in near else (WEEKDAYS.index(day) - now.weekday()) % 7
            on = now.date() + timedelta(days=ahead)
        spans = [
            f"{_clock(begin)} to {_clock(end)}" for begin, end in opening_spans(self._house, on)
        ]
        midnight = datetime.combine(on, datetime.min.time(), tzinfo=now.tzinfo)
        opening = next_opening(self._house, midnight)
        called = ("today", "tomorrow")[near[day]] if day in near else f"on {day.title()}"
        again = said_time(opening, now) if opening is not None else None
        return say("hours day", day=called, spans=spans, opening=again)

    def _payment(self, words: str | None) -> str:
        """Say how it can be paid, and whether it can be as the guest asked."""
        ways = self._house.payment
        if words is None:
            return say("pay by", ways=ways)
        if pattern("as a card").fullmatch(words):
            said = words.replace("my ", "your ")
            return say("pay as card" if "card" in ways else "pay not by", words=said, ways=ways)
        return say("pay yes by" if words in ways else "pay not by", method=words, ways=ways)

    def _service(self, aspect: str | None, order: Mapping[str, Any], now: datetime) -> str:
        """Say how food is had: all of it, or the fee, the minimum, the area or the wait that was asked for."""
        pickup, delivery = self._house.pickup, self._house.delivery
        ready = say("order ready", ready=(order.get("fulfilment") or {}).get("ready"))
        if ready and (aspect == "wait" or order.get("number") is not None):
            return ready
        if aspect == "wait":
            lead = {
                **({"pickup": pickup.lead_minutes} if pickup is not None else {}),
                **({"delivery": delivery.lead_minutes} if delivery is not None else {}),
            }
            if is_open(self._house, now):
                return say("wait times", **lead)
            times = ((one, earliest(self._house, one, now)) for one in KINDS if one in lead)
            return say("wait closed", **{one: said_time(at, now) for one, at in times})
        if delivery is None:
            minutes = pickup.lead_minutes if pickup else None
            return joined(say("service pickup", minutes=minutes), say("service delivery not"))
        fee = self._money(delivery.fee) if delivery.fee else None
        least = self._money(delivery.minimum) if delivery.minimum else None
        # With an "and" the digits might be those of a card.
        area = ", ".join(delivery.postcodes) or None
        if aspect in ("fee", "minimum", "area") and (aspect != "area" or area):
            return say(f"service {aspect}", fee=fee, minimum=least, area=area)
        also = aspect != "delivery"
        terms = (
            area and f"to {area}",
            f"in about {delivery.lead_minutes} minutes",
            fee and f"for {fee}",
            least and f"for orders from {least}",
        )
        return joined(
            ready,
            say("service pickup", minutes=pickup.lead_minutes if pickup and also else None),
            say("service delivery", terms=" ".join(filter(None, terms))),
            say("service pickup not") if also and not pickup else "",
        )

    def _area(self, address: str | None) -> str:
        """Say whether an address is delivered to; nothing when it does not tell."""
        delivery = self._house.delivery
        if address is None or delivery is None:
            return ""
        found, told = postcode_in(address, delivery.postcodes)
        if delivery.postcodes and found is None:
            return say("area not", postcodes=", ".join(delivery.postcodes)) if told else ""
        fee = self._money(delivery.fee) if delivery.fee else None
        return say("area", minutes=delivery.lead_minutes, fee=fee)

    def booking(self) -> str:
        """Say how a table is had; orders are all that can be taken here."""
        told = (
            fact
            for subject, fact in self._house.facts.items()
            if "reserv" in subject.casefold() or "booking" in subject.casefold()
        )
        return next(told, say("booking"))

    def _fact(self, subject: str | None) -> str:
        house = self._house
        if subject in house.facts:
            return house.facts[str(subject)]
        if subject in ("address", "phone", "name"):
            facts = {"address": house.address, "phone": house.phone, "name": house.name}
            if told := say(f"fact {subject}", **facts):
                return told
        return say("fact unknown")


def careful(met: Mapping[str, Sequence[str]]) -> str:
    """Warn of what the menu lists of the guest's allergies.

    Args:
        met: The families by the dish.

    >>> print(careful({"Caprese": ["milk"], "Tiramisu": ["egg", "milk"], "Latte": ["milk"]}))
    Careful: the menu lists milk for the Caprese and the Latte, egg and milk for the Tiramisu, and you told me about that.
    >>> careful({})
    ''
    """
    dishes: dict[tuple[str, ...], list[str]] = {}
    for name, families in met.items():
        dishes.setdefault((*families,), []).append(f"the {name}")
    told = [
        say("allergy met dish", families=called(families), names=names)
        for families, names in dishes.items()
    ]
    return say("allergy met", met=", ".join(told))


def so_far(order: Mapping[str, Any]) -> str:
    """Say what stands on the order, with its total."""
    lines = [line_words(line) for line in order.get("items") or ()]
    return say("so far", lines=lines, total=order.get("total")) if lines else say("so far nothing")


def _has_number(text: str) -> bool:
    tokens = tokenize(text)
    return any(number_at(tokens, at) is not None for at in range(len(tokens)))


def _with_choices(group: OptionGroup) -> str:
    """Name a group of choices, with the choices if they are few."""
    names = [choice.name for choice in group.choices if choice.available]
    return f"{group.name} ({listed(names, 'or')})" if len(names) <= _FEW_CHOICES else group.name


def _clock(at: datetime) -> str:
    return said_time(at, at).removeprefix("at ")


def _next_date(holiday: str, now: datetime) -> date:
    """Return the next day of the year that guests call by a name."""
    (written,) = table("holidays")[holiday]
    month, _, day = written.partition("-")
    years = (_date(year, int(month), day) for year in (now.year, now.year + 1))
    return next(one for one in years if one >= now.date())


def _date(year: int, month: int, day: str) -> date:
    """Return a date by its day, "24", or by a day of the week, "thursday4" for the fourth Thursday."""
    if day.isdigit():
        return date(year, month, int(day))
    first = date(year, month, 1)
    ahead = (WEEKDAYS.index(day[:-1]) - first.weekday()) % 7
    return first + timedelta(days=ahead, weeks=int(day[-1]) - 1)
