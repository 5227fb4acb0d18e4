"""Feedback: the number, the time, a rating if there is one, and goodbye."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

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
from bella_vista.local.steps import placed_words


class FeedbackPolicy(Policy):
    """Plays Feedback."""

    RATING: ClassVar[str] = RATING
    """How the rating is asked for."""
    STARS: ClassVar[str] = STARS
    """How it is asked for again, of who said something that is none."""

    def open(self, now: Situation) -> str:
        """Say how the order stands."""
        return joined(
            "Welcome back.", self._status(now), "" if now.order.get("rating") else self.RATING
        )

    def move(self, now: Situation) -> Move:
        """Open with the number and the time, and then go on from what the guest has said."""
        move = super().move(now)
        if move.words and self.opens_on_words(now):
            return replace(move, say=joined(placed_words(now), move.say))
        return move

    def opens_on_words(self, now: Situation) -> bool:
        """Whether another agent has left it to this one to say that the order is placed."""
        return now.scene.opening and now.scene.guest is not None

    def calls(self, now: Situation) -> Sequence[ToolCall]:
        """Keep what the guest says of the call."""
        return [] if now.scene.outcomes else drafts(now, "give_feedback")

    def leaves(self, now: Situation) -> bool:
        """Whether nothing is left to do."""
        if now.heard.question is not None or now.heard.answers:
            return False
        # "That is all, place it" was said to the agent before.
        said = now.meant(*(("bye",) if self.opens_on_words(now) else ("bye", "done", "nothing")))
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
        opens = self.opens_on_words(now)
        if not opens and (question := self.question(now)):
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
            return self.STARS if now.nothing_meant and not opens else self.RATING
        if opens and not now.order.get("rating"):
            return self.RATING
        return joined(self.confused(now), ANYTHING_ELSE)
