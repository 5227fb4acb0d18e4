"""What an order comes to, reckoned a second time: in exact fractions, from the card as it is written.

Nothing of ``state`` is used here, so that the two reckonings can only agree by being right.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from tests.state.properties.cards import DECIMALS, Card, Wanted, Wish


@dataclass(frozen=True)
class Reckoned:
    """The bill, computed independently in fractions."""

    units: tuple[int, ...]
    subtotal: int
    discounts: Mapping[str, int]
    fee: int
    tax: int
    before_tip: int
    tip: int

    @property
    def total(self) -> int:
        return self.before_tip + self.tip


def half_up(amount: Fraction) -> int:
    """Round to a whole, a half up."""
    return floor(amount + Fraction(1, 2))


def reckon(
    card: Card,
    wanted: Sequence[Wanted],
    coupons: Iterable[str] = (),
    *,
    delivered: bool = False,
    tip: Fraction | int = 0,
) -> Reckoned:
    """Compute a bill; lines are in the order in which they were added.

    Args:
        card: The card.
        wanted: What is on the order.
        coupons: The codes, in the order given.
        delivered: Whether it is brought.
        tip: A fraction of the base, or a whole amount.
    """
    house = card["restaurant"]
    units = [unit_price(card, one) for one in wanted]
    gross = [unit * one.quantity for unit, one in zip(units, wanted, strict=True)]
    subtotal = sum(gross)
    discounts, nets = _taken_off(card, coupons, subtotal, gross)
    fee = minor(card, house["service"]["delivery"]["fee"]) if delivered and wanted else 0
    tax = _tax(card, wanted, nets)
    before_tip = sum(nets) + fee + (tax if house["tax"]["mode"] == "added" else 0)
    base = subtotal if house["tip"]["base"] == "subtotal" else before_tip
    tipped = half_up(tip * base) if isinstance(tip, Fraction) else tip
    return Reckoned(tuple(units), subtotal, discounts, fee, tax, before_tip, tipped)


def unit_price(card: Card, wanted: Wanted) -> int:
    """What one piece costs as it is wanted."""
    combo = next((combo for combo in card["combos"] if combo["name"] == wanted.name), None)
    if combo is None:
        return _on_the_card(card, wanted) + _wishes(card, wanted)
    price = minor(card, combo["price"])
    for part in wanted.parts:
        dearer = _on_the_card(card, part) - _covered(card, part.name)
        price += max(0, dearer) + _wishes(card, part)
    return price


def minor(card: Card, written: str) -> int:
    """Read an amount as whole minor units."""
    units = Fraction(written) * 10 ** DECIMALS[card["restaurant"]["currency"]]
    if units.denominator != 1:
        raise ValueError(f"{written} is finer than the smallest coin")
    return int(units)


def _dish(card: Card, name: str) -> Card:
    dishes = (dish for section in card["sections"] for dish in section["dishes"])
    return next(dish for dish in dishes if dish["name"] == name)


def _of_size(card: Card, prices: str | dict[str, str], size: str | None) -> int:
    return minor(card, prices if isinstance(prices, str) else prices[str(size)])


def _on_the_card(card: Card, wanted: Wanted) -> int:
    return _of_size(card, _dish(card, wanted.name)["price"], wanted.size)


def _covered(card: Card, name: str) -> int:
    """A combo covers the default size of a part, or else its cheapest one."""
    dish = _dish(card, name)
    if "default_size" in dish:
        return _of_size(card, dish["price"], dish["default_size"])
    if isinstance(dish["price"], str):
        return minor(card, dish["price"])
    return min(minor(card, price) for price in dish["price"].values())


def _wishes(card: Card, wanted: Wanted) -> int:
    return sum(_wish(card, wanted, wish) for wish in wanted.wishes)


def _wish(card: Card, wanted: Wanted, wish: Wish) -> int:
    if wish.group is None:
        extra = _dish(card, wanted.name).get("extra", {})
        if wish.amount != "extra" or wish.name not in extra:
            return 0
        return _of_size(card, extra[wish.name], wanted.size)
    group = card["options"][wish.group]
    if wish.name == group.get("default"):
        return 0  # it is what is taken when nothing is said
    choice = group["choices"][wish.name]
    prices = choice["price"] if isinstance(choice, dict) else choice
    price = Fraction(_of_size(card, prices, wanted.size)) * wish.count
    if wish.amount in ("light", "extra"):
        price *= Fraction(str(group["amounts"][wish.amount]))
    return half_up(price / 2 if wish.portion else price)


def _taken_off(
    card: Card, codes: Iterable[str], subtotal: int, gross: Sequence[int]
) -> tuple[dict[str, int], list[int]]:
    nets, discounts = list(gross), {}
    rules: list[tuple[str, dict[str, Any]]] = [(code, card["coupons"][code]) for code in codes]
    percents_first = [rule for rule in rules if "percent" in rule[1]]
    percents_first += [rule for rule in rules if "percent" not in rule[1]]
    for code, rule in percents_first:
        if subtotal < minor(card, rule.get("minimum", "0")):
            continue
        if "percent" in rule:
            off = half_up(Fraction(str(rule["percent"])) * subtotal / 100)
        else:
            off = minor(card, rule["amount"])
        off = min(off, sum(nets))
        if off:
            discounts[code] = off
            shares = shared_out(off, nets)
            nets = [net - share for net, share in zip(nets, shares, strict=True)]
    return discounts, nets


def shared_out(amount: int, weights: Sequence[int]) -> list[int]:
    """What is left over goes to the largest remainders; among equal ones to the first."""
    whole = sum(weights)
    if not whole:
        return [amount, *(0 for _ in weights[1:])][: len(weights)]
    exact = [Fraction(amount * weight, whole) for weight in weights]
    shares = [floor(share) for share in exact]
    by_remainder = sorted(range(len(exact)), key=lambda place: shares[place] - exact[place])
    for place in by_remainder[: amount - sum(shares)]:
        shares[place] += 1
    return shares


def _tax(card: Card, wanted: Sequence[Wanted], nets: Sequence[int]) -> int:
    rules = card["restaurant"]["tax"]
    rates: dict[str, str] = rules["rates"]
    taxed: dict[tuple[int | None, str], int] = {}
    for place, (one, net) in enumerate(zip(wanted, nets, strict=True)):
        weights = _weights(card, one, rates)
        for rate, part in zip(weights, shared_out(net, [*weights.values()]), strict=True):
            bucket = (place if rules["rounding"] == "per_line" else None, rate)
            taxed[bucket] = taxed.get(bucket, 0) + part
    tax = 0
    for (_, rate), amount in taxed.items():
        percent = Fraction(str(rates[rate])) / 100
        added = rules["mode"] == "added"
        tax += half_up(amount * percent if added else amount - amount / (1 + percent))
    return tax


def _weights(card: Card, wanted: Wanted, rates: Mapping[str, str]) -> dict[str, int]:
    """How much of a line is taxed at which rate, in the card's order of rates."""
    if not rates:
        return {}
    found: dict[str, int] = {}
    for one in wanted.parts or (wanted,):
        rate = _dish(card, one.name).get("tax", next(iter(rates)))
        weight = _on_the_card(card, one) + _wishes(card, one) if wanted.parts else 1
        found[rate] = found.get(rate, 0) + weight
    return {rate: found[rate] for rate in rates if rate in found}
