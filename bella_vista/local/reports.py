"""What became of the tools an agent called, in the words a guest hears."""

from collections.abc import Mapping, Sequence
from typing import Any

from bella_vista.local.answers import Answers, line_words
from bella_vista.local.phrases import PERSON, capital, joined, listed
from bella_vista.local.refusals import Refusals
from bella_vista.local.scene import Outcome


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
        said += [self._refusals.say(outcome) for outcome in outcomes if not outcome.done]
        if any(outcome.name in _PRICED for outcome in done) and order.get("items"):
            said.append(f"That makes {order['total']}.")
        return joined(*said)

    def _added(self, done: Sequence[Outcome], order: Mapping[str, Any]) -> str:
        added = [outcome.arguments for outcome in done if outcome.name == "add_item"]
        if not added:
            return ""
        said = [f"Noted: {listed([line_words(one) for one in added])}."]
        names = list(dict.fromkeys(str(one.get("name", "")) for one in added))
        said += [self._warning(name, order) for name in names]
        return joined(*said)

    def _warning(self, name: str, order: Mapping[str, Any]) -> str:
        """Warn when something added lists what the guest must not eat."""
        found = [
            allergy
            for allergy in order.get("allergies") or ()
            if any(_related(allergy, one) for one in self._answers.allergens(name))
        ]
        if not found:
            return ""
        return (
            f"Careful: for the {name} the menu lists {listed(found)}, and you told me about that."
        )

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
            case "add_allergy":
                return (
                    f"I have noted the allergy to {given.get('name')} on your order. Our kitchen handles"
                    " many things, so I cannot promise that anything is free of it."
                )
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


def _line(order: Mapping[str, Any], line_id: object) -> Mapping[str, Any] | None:
    return next((line for line in order.get("items") or () if line.get("id") == line_id), None)


def _nothing(tip: str) -> bool:
    return not any(digit in tip for digit in "123456789")


def _related(allergy: str, allergen: str) -> bool:
    one, other = allergy.casefold().rstrip("s"), allergen.casefold().rstrip("s")
    return one in other or other in one
