"""What became of the tools an agent called, in the words a guest hears."""

from collections.abc import Mapping, Sequence
from typing import Any

from bella_vista.local.answers import Answers, line_words
from bella_vista.local.phrases import PERSON, capital, careful, joined, listed
from bella_vista.local.refusals import Refusals
from bella_vista.local.scene import Outcome
from state.allergens import families_of


class Reports:
    """Turns outcomes into sentences.

    Args:
        answers: For what the menu lists about a dish.
        refusals: For what was not done.
    """

    def __init__(self, answers: Answers, refusals: Refusals) -> None:
        self._answers = answers
        self._refusals = refusals

    def of(self, outcomes: Sequence[Outcome], order: Mapping[str, Any]) -> str:
        """Say what was done and what was not.

        Args:
            outcomes: What the tools answered, in order.
            order: The order as it is now.
        """
        done = [outcome for outcome in outcomes if outcome.done]
        said = [self._added(done, order)]
        said += [self._done(outcome, order) for outcome in done if outcome.name != "add_item"]
        said.append(self._against(done, order))
        said += [self._refusals.say(outcome) for outcome in outcomes if not outcome.done]
        if any(outcome.name in _PRICED for outcome in done) and order.get("items"):
            said.append(f"That makes {order['total']}.")
        return joined(*said)

    def _added(self, done: Sequence[Outcome], order: Mapping[str, Any]) -> str:
        added = [outcome.arguments for outcome in done if outcome.name == "add_item"]
        if not added:
            return ""
        return f"Noted: {listed([line_words(one) for one in added])}."

    def _against(self, done: Sequence[Outcome], order: Mapping[str, Any]) -> str:
        """Say what an allergy means for the order, and what was just ordered for the allergies."""
        noted = [str(one.arguments.get("name")) for one in done if one.name == "add_allergy"]
        if noted:
            return joined(
                f"I have noted the allergy to {listed(noted)} on your order.",
                self._meaning(noted, order),
                "Our kitchen handles many things, so I cannot promise that anything is free of it.",
            )
        fields = [one.arguments for one in done if one.name in ("add_item", "change_item")]
        named = {str(one.get(key)).casefold() for one in fields for key in ("name", "line_id")}
        return warnings(
            [
                line
                for line in _lines(order)
                if named & {str(line["name"]).casefold(), str(line["id"]).casefold()}
            ]
        )

    def _meaning(self, noted: Sequence[str], order: Mapping[str, Any]) -> str:
        found = warnings(_lines(order), noted)
        unknown = self._answers.not_mentioned(noted)
        if found or unknown or not _lines(order):
            return joined(found, unknown)
        return "The menu does not list it for what you have so far."

    def _done(self, outcome: Outcome, order: Mapping[str, Any]) -> str:
        given = outcome.arguments
        match outcome.name:
            case "set_customer":
                return _customer(given)
            case "change_item":
                line = _line(order, given.get("line_id"))
                return f"Changed: {line_words(line)}." if line else "Changed."
            case "remove_item":
                line = _line(order, given.get("line_id"))
                return f"Taken off; left is {line_words(line)}." if line else "Taken off."
            case "set_fulfilment":
                return fulfilment_words(order)
            case "apply_coupon":
                return f"The code {str(given.get('code', '')).upper()} is on your order."
            case "remove_coupon":
                return f"The code {str(given.get('code', '')).upper()} is off your order."
            case "set_tip":
                tip = order.get("tip")
                return (
                    f"A tip of {tip}, thank you." if tip and not _nothing(tip) else "No tip, noted."
                )
            case "choose_payment":
                return f"You pay by {given.get('method')} when you get your food."
            case "add_note":
                return "I have written that down for the kitchen."
            case "cancel_order":
                return "Your order is cancelled."
            case "call_person":
                return PERSON
            case "give_feedback":
                return _feedback(given)
        return ""


def warnings(lines: Sequence[Mapping[str, Any]], allergies: Sequence[str] | None = None) -> str:
    """Warn of the lines that hold what the guest is allergic to, as the order shows them.

    Args:
        lines: The lines.
        allergies: Only these of the guest's allergies; all of them if left out.
    """
    met: dict[str, dict[str, None]] = {}
    meant = {name for one in allergies or () for name in (*families_of(one), one.casefold())}
    for line in lines:
        for family in line.get("allergens_met") or ():
            if allergies is None or family in meant:
                met.setdefault(str(line["name"]), {})[str(family)] = None
    return careful({name: [*families] for name, families in met.items()})


_PRICED = frozenset(
    {"add_item", "change_item", "remove_item", "apply_coupon", "remove_coupon", "set_fulfilment"}
)


def fulfilment_words(order: Mapping[str, Any]) -> str:
    """Say how and when the guest gets the food."""
    fulfilment = order.get("fulfilment")
    if not fulfilment:
        return ""
    kind = "pickup" if fulfilment.get("kind") == "pickup" else "delivery"
    where = f" to {fulfilment['address']}" if fulfilment.get("address") else ""
    ready = f", ready {fulfilment['ready']}" if fulfilment.get("ready") else ""
    return f"{capital(kind)}{where}{ready}."


def _customer(given: Mapping[str, Any]) -> str:
    said = []
    if given.get("name"):
        said.append(f"Nice to meet you, {given['name']}.")
    if given.get("phone"):
        said.append("I have noted your number.")
    if given.get("email"):
        said.append(f"I have noted {given['email']}.")
    return joined(*said)


def _feedback(given: Mapping[str, Any]) -> str:
    if given.get("rating"):
        stars = int(given["rating"])
        return f"Thank you for {stars} {'star' if stars == 1 else 'stars'}."
    return "Thank you, I pass that on."


def _lines(order: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return order.get("items") or ()


def _line(order: Mapping[str, Any], line_id: object) -> Mapping[str, Any] | None:
    return next((line for line in _lines(order) if line.get("id") == line_id), None)


def _nothing(tip: str) -> bool:
    return not any(digit in tip for digit in "123456789")
