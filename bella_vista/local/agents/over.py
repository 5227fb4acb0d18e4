"""Any agent, once the order is placed or over: the guest may have gone further on their page than the agent had."""

from collections.abc import Sequence

from bella_vista.local.agents.feedback import FeedbackPolicy
from bella_vista.local.english.sentences import joined, say
from bella_vista.local.policy import Policy, Situation, ToolCall, call

_TO_FEEDBACK = "transfer_to_feedback"


class PlacedPolicy(FeedbackPolicy):
    """Plays an agent that has nothing left to record: hands over to Feedback, or does as it does."""

    rating = "ask rating optional"

    def stars(self) -> str:
        """Say that it was not understood, and that a rating is welcome."""
        return joined(say("not understood"), say(self.rating))

    def calls(self, now: Situation) -> Sequence[ToolCall]:
        """Hand over, where there is a way; but what this agent has done it says itself."""
        own = any(one.done for one in now.scene.outcomes) or self._common(now)
        if not own and now.scene.can(_TO_FEEDBACK) and now.tried(_TO_FEEDBACK) is None:
            return [call(_TO_FEEDBACK)]
        return super().calls(now)

    def opens_on_words(self, now: Situation) -> bool:
        """Whether the order was placed just now: of an earlier placing the guest was told by the page's remark."""
        return now.did("place_order")

    def places(self, now: Situation) -> bool:
        """Whether the guest wants the order placed, or says yes to what was asked before it was."""
        return now.meant("yes", "place")


class ClosedPolicy(Policy):
    """Plays an agent whose order was called off, or refused by the house."""

    def open(self, now: Situation) -> str:
        """Say how the order stands."""
        return joined(say("welcome back"), self._status(now), say("ask more"))

    def calls(self, now: Situation) -> Sequence[ToolCall]:
        """Nothing can be done to it."""
        return []

    def leaves(self, now: Situation) -> bool:
        """Whether the guest wants nothing else."""
        if now.heard.commands or now.heard.answers or now.scene.outcomes or now.scene.opening:
            return False
        return now.meant("bye", "no", "nothing", "done")

    def ask(self, now: Situation) -> str:
        """Say that it is closed when the guest goes on ordering."""
        if now.scene.outcomes or now.heard.answers or now.meant("status", "thanks", "cancel"):
            return say("ask more")
        wants = now.heard.commands or now.heard.question or now.meant("order", "place", "back")
        yes = now.scene.last_said.endswith(say("ask more")) and now.meant("yes")
        return joined(
            self.confused(now), say("order closed") if wants or yes else "", say("ask more")
        )
