"""The Greeter: says what it is, learns the name, and hands over as soon as it is about food."""

from collections.abc import Sequence

from bella_vista.local.english.sentences import joined, say
from bella_vista.local.policy import CHANGING, Policy, Situation, ToolCall, call
from bella_vista.local.steps import next_question, standing
from bella_vista.local.topics import Topic
from state.hours import is_open, next_opening
from state.times import said_time

_ORDERING = CHANGING | {"apply_coupon", "choose_payment", "set_tip", "cancel_order"}


class GreeterPolicy(Policy):
    """Plays the Greeter."""

    def open(self, now: Situation) -> str:
        """Greet, or welcome back."""
        known = now.order.get("version") and (now.items or now.order.get("guest"))
        if known or now.scene.welcomes_back:
            return joined(say("welcome back", guest=now.order.get("guest")), standing(now))
        house = now.menu.restaurant
        return joined(
            say("greeting", daytime=_daytime(now.now.hour), house=house.name),
            closed_words(now),
            say("greeting ask"),
        )

    def calls(self, now: Situation) -> Sequence[ToolCall]:
        """Hand over when the guest wants to order."""
        wants = (
            any(draft.op in _ORDERING for draft in now.heard.commands)
            or now.heard.question is not None
            or now.meant("order", "place", "cancel", "done")
            or (now.meant("yes") and not now.heard.commands)
            # Begun on the page: a no is an answer to what comes next there, too.
            or (bool(now.items) and now.meant("no", "nothing", "right"))
        )
        transfer = "transfer_to_order_taker"
        if wants and now.scene.can(transfer) and now.tried(transfer) is None:
            return [call(transfer)]
        return []

    def ask(self, now: Situation) -> str:
        """Ask what may be brought."""
        wanted = next_question(now) if now.stage != "open" else say("ask wanted")
        if now.nothing_meant and not now.scene.opening:
            return joined(self.confused(now), wanted)
        if now.went_wrong and not now.heard.answers:
            return ""
        if now.meant("no", "nothing") and not now.heard.answers:
            return say("later")
        heard = now.heard
        alone = heard.intents == ("greeting",) and not (heard.answers or heard.not_understood)
        return joined(say("hello") if alone and not now.scene.outcomes else "", wanted)

    def confused(self, now: Situation) -> str:
        """A card number alone is no riddle."""
        said = super().confused(now)
        return said or (
            say("not understood") if now.topic is Topic.NOTHING and now.nothing_meant else ""
        )


def closed_words(now: Situation) -> str:
    """Say that the house is closed, and when the next orders are served; nothing while it is open."""
    house = now.menu.restaurant
    if is_open(house, now.now):
        return ""
    opening = next_opening(house, now.now)
    return say("closed", opening=said_time(opening, now.now) if opening is not None else None)


def _daytime(hour: int) -> str:
    if 4 < hour < 12:
        return "Good morning"
    if 12 <= hour < 17:
        return "Good afternoon"
    return "Good evening"
