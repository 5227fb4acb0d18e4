"""Why something was not done, in the words a guest hears: a sentence of our own for every code."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from bella_vista.local.english import NO_NOUNS
from bella_vista.local.phrases import listed, with_days
from bella_vista.local.scene import Outcome
from state.menu import Menu
from state.money import Cents, shown
from state.times import said_time

_MOST = 8


class Refusals:
    """Says refusals of one restaurant.

    Args:
        menu: For its currency.
        now: The present time, aware, in the restaurant's zone.
    """

    def __init__(self, menu: Menu, now: Callable[[], datetime]) -> None:
        self._menu = menu
        self._now = now

    def say(self, outcome: Outcome) -> str:
        """Say why a tool did not do what it was asked, and what is possible."""
        facts = {**outcome.facts}
        facts.setdefault("name", outcome.arguments.get("name") or "that")
        match outcome.code:
            case "unavailable" | "timeout" | "internal" | "taken_over" | "version_conflict":
                return "I could not write that down just now, so nothing was changed. Please say it again."
            case "sold_out":
                return f"I am sorry, we are out of {facts['name']} today.{_instead(facts)}"
            case "not_on_menu":
                return f"I am sorry, we do not have {facts.get('words', 'that')}.{_instead(facts)}"
            case "ambiguous":
                return f"Which one do you mean by {facts.get('words', 'that')}: {_possible(facts)}?"
            case "choice_missing":
                return _choice_missing(facts)
            case "choice_not_possible":
                return _choice_not_possible(facts)
            case "not_served_now":
                served = listed([with_days(str(one)) for one in facts.get("served") or ()])
                return f"I am sorry, {facts['name']} is not served then; it is served {served}."
            case "over_limit":
                return self._over_limit(facts)
            case "coupon_not_valid":
                return self._coupon(facts)
            case "not_valid":
                return _NOT_VALID.get(
                    str(facts.get("field")), "I did not get that. Please say it again."
                )
            case "not_possible":
                return self._not_possible(facts)
            case "missing":
                return _missing(facts)
            case "wrong_stage":
                return _wrong_stage(str(facts.get("stage")))
            case "not_found":
                return "I do not find that on your order."
            case "already_handing_over" | "not_answered" | "sibling_failed" | "too_many_handoffs":
                return ""  # the model's own business
        return outcome.message

    def _money(self, amount: object) -> str:
        return shown(Cents(int(str(amount))), self._menu.restaurant.currency)

    def _time(self, moment: object) -> str:
        return said_time(datetime.fromisoformat(str(moment)), self._now())

    def _over_limit(self, facts: Mapping[str, Any]) -> str:
        limit = facts.get("limit")
        match facts.get("what"):
            case "quantity":
                said = f"I may take at most {limit} of {facts['name']} by myself."
            case "lines":
                said = f"I may take at most {limit} different things by myself."
            case "total":
                said = f"Orders above {self._money(limit)} are more than I may take by myself."
            case "tip":
                return f"That is kind, but a tip is at most {limit} percent here."
            case _:
                said = "There is no room for more on this order."
        return f"{said} I have let our staff know, so that a person can help."

    def _coupon(self, facts: Mapping[str, Any]) -> str:
        code = facts.get("code", "that")
        match facts.get("why"):
            case "expired":
                return f"I am sorry, the code {code} has run out."
            case "not_combinable":
                there = listed([str(one) for one in facts.get("there") or ()])
                return f"I am sorry, the code {code} does not go together with {there}."
        return f"I am sorry, we have no code {code}."

    def _not_possible(self, facts: Mapping[str, Any]) -> str:
        what, possible = facts.get("what"), facts.get("possible") or []
        match facts.get("why"):
            case "below_minimum":
                return (
                    f"For a delivery {self._money(facts.get('short', 0))} is missing: it starts at"
                    f" {self._money(facts.get('minimum', 0))}."
                )
            case "outside_area":
                return "I am sorry, we do not deliver there."
            case "too_soon":
                return f"That is too soon; the earliest is {self._time(possible[0])}."
            case "closed" if possible:
                return f"We are closed then; we open {self._time(possible[0])}."
            case "closed":
                return "We are closed then."
        if what == "payment" and possible:
            return f"I am sorry, you can only pay by {_any_of(possible)} here."
        offered = f" {_any_of(possible)} is possible." if possible else ""
        return f"I am sorry, {what or 'that'} is not possible here.{offered}"


_NOT_VALID = {
    "phone": "That does not sound like a complete number. Please say it again, digit by digit.",
    "email": "That does not sound like a complete e-mail address. Please say it again.",
    "when": "I did not get a time I can promise. When would you like it?",
    "quantity": "There are not that many of it on your order.",
    "rating": "Please give me a whole number from one to five.",
}

_NEEDED = {
    "items": "First tell me what you would like.",
    "fulfilment": "First tell me whether you pick it up or have it delivered.",
    "address": "First I need the address.",
    "payment": "First tell me how you would like to pay.",
    "confirmation": "First I need your yes to the order as I read it.",
    "read_back": "First let me read the order to you again.",
}


def _missing(facts: Mapping[str, Any]) -> str:
    needs = [str(one) for one in facts.get("needs") or ()]
    if needs == ["postcode"]:
        return ""  # it is asked for at once
    return next((_NEEDED[need] for need in needs if need in _NEEDED), "Something is still missing.")


def _wrong_stage(stage: str) -> str:
    if stage in ("cancelled", "failed"):
        return "That order is closed."
    if stage in ("open", "review", "confirmed"):
        return "It is too early for that."
    return "Your order is with the kitchen, so I cannot change it any more."


def _choice_missing(facts: Mapping[str, Any]) -> str:
    group = str(facts.get("group") or "one")
    if group == "parts":
        return f"Which would you like with the {facts['name']}: {_possible(facts)}?"
    if group in NO_NOUNS:
        return f"For the {facts['name']}, which one: {_possible(facts)}?"
    return f"Which {group} would you like for the {facts['name']}: {_possible(facts)}?"


def _choice_not_possible(facts: Mapping[str, Any]) -> str:
    can = f" Possible is {_possible(facts)}." if facts.get("possible") else ""
    words = facts.get("words") or "it that way"
    return f"I am sorry, the {facts['name']} cannot be had with {words}.{can}"


def _possible(facts: Mapping[str, Any]) -> str:
    return _any_of(facts.get("possible") or ())


def _any_of(names: Any) -> str:
    names = [str(one) for one in names]
    if len(names) > _MOST:
        return f"{', '.join(names[:_MOST])} or another one"
    return listed(names, "or")


def _instead(facts: Mapping[str, Any]) -> str:
    near = [str(one) for one in facts.get("near") or ()][:3]
    return f" We do have {listed(near, 'or')}." if near else ""
