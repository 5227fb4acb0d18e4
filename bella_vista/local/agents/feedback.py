"""Feedback: the number, the time, a rating if there is one, and goodbye."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from bella_vista.local.english.sentences import joined, say
from bella_vista.local.policy import CHANGING, Move, Policy, Situation, ToolCall, call, drafts
from bella_vista.local.steps import placed_words
from bella_vista.local.topics import Topic

_LONGEST_REASON = 200


class FeedbackPolicy(Policy):
    """Plays Feedback."""

    rating: ClassVar[str] = "ask rating"
    """How the rating is asked for."""

    def open(self, now: Situation) -> str:
        """Say how the order stands."""
        asks = "" if now.order.get("rating") else say(self.rating)
        return joined(say("welcome back"), self._status(now), asks)

    def move(self, now: Situation) -> Move:
        """Open with the number and the time, and then go on from what the guest has said."""
        move = super().move(now)
        if move.words and self.opens_on_words(now):
            return replace(move, say=joined(placed_words(now), move.say))
        return move

    def opens_on_words(self, now: Situation) -> bool:
        """Whether another agent has left it to this one to say that the order is placed."""
        rates = any(one.op == "give_feedback" for one in now.heard.commands)
        answers = rates or now.meant("no", "nothing", "bye", "done", "thanks")
        # Then the agent before has placed it, said so and asked for the rating.
        told = now.topic is Topic.RATING and answers
        return now.scene.opening and now.scene.guest is not None and not told

    def calls(self, now: Situation) -> Sequence[ToolCall]:
        """Keep what the guest says of the call; more food is for a person to decide on."""
        if now.scene.outcomes:
            return []
        made = drafts(now, "give_feedback")
        if _wants_more(now) and not self.opens_on_words(now) and now.scene.can("call_person"):
            words = now.scene.guest.text if now.scene.guest is not None else ""
            reason = f"{AFTER_PLACING}: {words}"[:_LONGEST_REASON]
            made.append(call("call_person", reason=reason))
        return made

    def leaves(self, now: Situation) -> bool:
        """Whether nothing is left to do."""
        if now.meant("see you"):
            return True
        if now.heard.question is not None or now.heard.answers:
            return False
        # "That is all, place it" was said to the agent before.
        said = now.meant(*(("bye",) if self.opens_on_words(now) else ("bye", "done", "nothing")))
        settled = now.topic in (Topic.ANYTHING_ELSE, Topic.COMMENT) and now.meant("no", "thanks")
        return (said or settled) and not now.heard.commands

    def farewell(self, now: Situation) -> str:
        """Say goodbye by name."""
        return say("goodbye guest", guest=now.order.get("guest")) or say("goodbye")

    def ask(self, now: Situation) -> str:
        """Say the number when the guest asks to place the order, or gives what placing it would have needed."""
        said = self._next_question(now)
        told = now.did("place_order") or self.opens_on_words(now)
        needed = any(draft.op in ("set_tip", "choose_payment") for draft in now.heard.commands)
        return (
            joined(placed_words(now), said) if (self.places(now) or needed) and not told else said
        )

    def places(self, now: Situation) -> bool:
        """Whether the guest wants the order placed, which they have done on their page."""
        optional = now.scene.last_said.endswith(say("ask rating optional"))
        return now.meant("place") or (now.meant("yes") and optional)

    def _next_question(self, now: Situation) -> str:
        """Ask for the rating once, for a word about it once, then whether anything is left."""
        anything_else = say("ask anything_else")
        opens = self.opens_on_words(now)
        if _wants_more(now) and not opens:
            told = "" if now.did("call_person") else say("placed already")
            return joined(told, anything_else)
        if not opens and (question := self.question(now)):
            return question
        gave = [
            one.arguments for one in now.scene.outcomes if one.name == "give_feedback" and one.done
        ]
        if any("comment" in one for one in gave) or now.did("call_person"):
            return anything_else
        if gave:
            return say("ask comment")
        if now.topic is Topic.RATING and now.meant("no", "nothing"):
            return joined(say("fine"), anything_else)
        if now.topic is Topic.RATING and not now.order.get("rating") and not self._asked_twice(now):
            again = now.nothing_meant and not opens
            return self.stars() if again else say(self.rating)
        if opens and not now.order.get("rating"):
            return say(self.rating)
        return joined(self.confused(now), anything_else)

    def stars(self) -> str:
        """Ask again for the rating, of a guest who said something that is none."""
        return say("ask rating stars")

    def _asked_twice(self, now: Situation) -> bool:
        return len(now.scene.said) > 1 and "stars" in now.scene.said[1]


def _wants_more(now: Situation) -> bool:
    """Whether the guest wants something else of an order that is with the kitchen."""
    heard = now.heard
    if now.meant("see you"):
        return False
    changes = any(draft.op in (*CHANGING, "cancel_order") for draft in heard.commands)
    asked = heard.question is not None and heard.question.draft is not None
    about_food = asked and heard.question is not None and heard.question.code != "not_valid"
    return changes or now.meant("cancel") or about_food


AFTER_PLACING = "After placing"
"""How the reason for the staff begins when an order that was placed is to be changed."""
