"""Outcomes of an agent's tools, in the words that a guest hears."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agents.telling import NO_PERSON_BY_PHONE
from bella_vista.local.answers import Answers, careful
from bella_vista.local.english.sentences import allergy_words, joined, line_words, say
from bella_vista.local.refusals import Refusals
from bella_vista.local.scene import Outcome
from state.menu.families import families_of

Line = Mapping[str, Any]


class Reports:
    """Turns outcomes into sentences.

    Args:
        answers: For what the menu lists about a dish.
        refusals: For what was not done.
    """

    def __init__(self, answers: Answers, refusals: Refusals) -> None:
        self._answers = answers
        self._refusals = refusals

    def of(
        self, outcomes: Sequence[Outcome], order: Mapping[str, Any], before: Mapping[str, str]
    ) -> str:
        """Say what was done and what was not.

        Args:
            outcomes: What the tools answered, in order.
            order: The order as it is now.
            before: The lines as they were, by their id.
        """
        done = [outcome for outcome in outcomes if outcome.done]
        return joined(
            *_of_lines(done, order, before),
            *(_done(one, order) for one in done),
            self._against(done, order),
            *(self._refusals.say(one) for one in outcomes if not one.done),
        )

    def _against(self, done: Sequence[Outcome], order: Mapping[str, Any]) -> str:
        """Say what an allergy means for the order, and what was just ordered for the allergies."""
        noted = [str(one.arguments.get("name")) for one in done if one.name == "add_allergy"]
        if noted:
            return joined(
                say("allergy noted", noted=allergy_words(noted)), self._meaning(noted, order)
            )
        fields = [one.arguments for one in done if one.name in ("add_item", "change_item")]
        named = {str(one.get(key)).casefold() for one in fields for key in ("name", "line_id")}
        touched = (
            line
            for line in order.get("items") or ()
            if named & {str(line["name"]).casefold(), str(line["id"]).casefold()}
        )
        return warnings([*touched])

    def _meaning(self, noted: Sequence[str], order: Mapping[str, Any]) -> str:
        lines = order.get("items") or ()
        found = joined(warnings(lines, noted), self._answers.not_mentioned(noted))
        return found or (say("allergy not in order") if lines else "")


def warnings(lines: Sequence[Line], allergies: Sequence[str] | None = None) -> str:
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


def gets_it(order: Mapping[str, Any]) -> str:
    """Say how the guest gets the food, behind "when you"."""
    kind = (order.get("fulfilment") or {}).get("kind")
    return {"pickup": "pick it up", "delivery": "get it"}.get(str(kind), "")


def fulfilment_words(order: Mapping[str, Any]) -> str:
    """Say how and when the guest gets the food."""
    fulfilment = order.get("fulfilment")
    if not fulfilment:
        return ""
    kind = "pickup" if fulfilment.get("kind") == "pickup" else "delivery"
    return say(f"fulfilment {kind}", **fulfilment)


def _of_lines(
    done: Sequence[Outcome], order: Mapping[str, Any], before: Mapping[str, str]
) -> Iterator[str]:
    """Say in a sentence each what is new, what has changed and what is gone."""
    lines = {str(line["id"]): line for line in order.get("items") or ()}
    told: dict[str, list[str]] = {"add_item": [], "change_item": [], "remove_item": [], "left": []}
    changed = {
        lines[str(one.arguments["line_id"])]["name"]
        for one in done
        if one.name == "change_item" and str(one.arguments["line_id"]) in lines
    }
    for one in done:
        line = str(one.arguments.get("line_id"))
        if one.name == "add_item":  # one of two colas that becomes large is a line of its own
            kind = "change_item" if one.arguments.get("name") in changed else one.name
            told[kind].append(line_words(one.arguments))
        elif one.name in told:
            kind = "left" if one.name == "remove_item" and line in lines else one.name
            told[kind].append(line_words(lines[line]) if line in lines else before.get(line, ""))
    for kind, said in told.items():
        if said:
            yield say(f"done {kind}", lines=[*filter(None, said)])


def _done(outcome: Outcome, order: Mapping[str, Any]) -> str:
    given = outcome.arguments
    match outcome.name:
        case "set_customer":
            return joined(
                *(
                    say(f"done {one}", **given) if given[one] else say(f"done no {one}")
                    for one in ("name", "phone", "email")
                    if one in given
                )
            )
        case "set_fulfilment":
            return fulfilment_words(order)
        case "set_tip":
            tip = order.get("tip")
            return say(
                "done set_tip", tip=tip if any(map(str(tip).__contains__, "123456789")) else None
            )
        case "call_person":
            if outcome.output.startswith(NO_PERSON_BY_PHONE):
                return say("person not by phone", phone=order.get("phone"))
            return say(_PERSONS.get(str(given.get("reason")).partition(":")[0], "person"))
        case "give_feedback":
            stars = int(given.get("rating") or 0)
            return (
                say("done rating one")
                if stars == 1
                else (say("done rating", stars=stars or None) or say("done comment"))
            )
        case "apply_coupon" | "remove_coupon":
            return say(f"done {outcome.name}", code=str(given.get("code", "")).upper())
        case "remove_allergy":
            return say("done remove_allergy", name=allergy_words([str(given.get("name"))]))
        case "choose_payment" | "add_note" | "cancel_order":
            return say(f"done {outcome.name}", at=gets_it(order), **given)
    return ""


_PERSONS = {
    "Complaint": "person complaint",
    "Call back": "person call",
    "After placing": "person more",
    "In vain": "asked in vain",
}
"""The sentence about a call to the staff, by the beginning of its reason."""
