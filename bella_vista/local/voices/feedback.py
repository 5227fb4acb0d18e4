"""Feedback: the number, the time, a rating if there is one, and goodbye."""

from collections.abc import Sequence

from bella_vista.local.phrases import (
    ANYTHING_ELSE,
    COMMENT,
    GOODBYE,
    PLACED_ALREADY,
    RATING,
    STARS,
    Topic,
    joined,
)
from bella_vista.local.policy import CHANGING, Move, Policy, Situation, ToolCall, drafts


class FeedbackPolicy(Policy):
    """Plays Feedback."""

    def open(self, now: Situation) -> str:
        """Say how the order stands."""
        return joined("Welcome back.", self._status(now), "" if now.order.get("rating") else RATING)

    def move(self, now: Situation) -> Move:
        """Open with the number and the time; what the guest said before was for another voice."""
        if now.scene.opening and now.scene.guest is not None and now.stage == "placed":
            return Move(say=joined(placed_words(now), RATING))
        return super().move(now)

    def calls(self, now: Situation) -> Sequence[ToolCall]:
        """Keep what the guest says of the call."""
        return [] if now.scene.outcomes else drafts(now, "give_feedback")

    def leaves(self, now: Situation) -> bool:
        """Whether nothing is left to do."""
        if now.heard.question is not None or now.heard.answers:
            return False
        said = now.meant("bye", "done", "nothing")
        settled = now.topic in (Topic.ANYTHING_ELSE, Topic.COMMENT) and now.meant("no", "thanks")
        return (said or settled) and not now.heard.commands

    def farewell(self, now: Situation) -> str:
        """Say goodbye by name."""
        name = now.order.get("guest")
        return f"Thank you, {name}, and enjoy your meal. Goodbye!" if name else GOODBYE

    def ask(self, now: Situation) -> str:
        """Ask for the rating once, for a word about it once, then whether anything is left."""
        if any(draft.op in CHANGING for draft in now.heard.commands) or now.meant("cancel"):
            return joined(PLACED_ALREADY, ANYTHING_ELSE)
        if question := self.question(now):
            return question
        gave = [
            one.arguments for one in now.scene.outcomes if one.name == "give_feedback" and one.done
        ]
        if any("comment" in one for one in gave):
            return ANYTHING_ELSE
        if gave:
            return COMMENT
        if now.topic is Topic.RATING and now.meant("no", "nothing"):
            return f"That is fine. {ANYTHING_ELSE}"
        if now.topic is Topic.RATING and not now.order.get("rating"):
            return STARS if now.nothing_meant else RATING
        return joined(self.confused(now), ANYTHING_ELSE)


def placed_words(now: Situation) -> str:
    """Say the order's number, when it is ready, and what it comes to."""
    order = now.order
    ready = (order.get("fulfilment") or {}).get("ready")
    when = f" It will be ready {ready}." if ready else ""
    return f"Your order is placed, number {order.get('number')}.{when} The total is {order.get('total')}."
