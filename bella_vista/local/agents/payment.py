"""Payment: how it is paid at handover, the tip, the total, and the placing."""

from collections.abc import Sequence

from bella_vista.local.english.sentences import joined, say
from bella_vista.local.policy import (
    CHANGING,
    Policy,
    Situation,
    ToolCall,
    call,
    cancel_question,
    drafts,
)
from bella_vista.local.steps import asks_tip, money_question, no_tip, standing
from bella_vista.local.topics import Topic

_TO_ORDER_TAKER = "transfer_to_order_taker"
_TO_FEEDBACK = "transfer_to_feedback"


class PaymentPolicy(Policy):
    """Plays Payment."""

    def open(self, now: Situation) -> str:
        """Ask for what is still open."""
        return joined(say("welcome back"), standing(now))

    def calls(self, now: Situation) -> Sequence[ToolCall]:
        """Keep what was said about paying; place the order on a yes; send changes back."""
        if not now.scene.outcomes:
            if now.stage == "confirmed" and _places_without_tip(now):
                paid = drafts(now, "choose_payment")
                return [*paid, call("place_order"), *_transfer(now, _TO_FEEDBACK)]
            settled = [
                *self.cancelling(now),
                *drafts(now, "choose_payment", "set_tip", "apply_coupon", "remove_coupon"),
                *no_tip(now),
            ]
            if not now.scene.opening and _wants_change(now) and now.scene.can(_TO_ORDER_TAKER):
                return [*settled, call(_TO_ORDER_TAKER)]
            if settled:
                return settled
            if now.stage == "confirmed" and _says_place(now):
                return [call("place_order"), *_transfer(now, _TO_FEEDBACK)]
        placing = now.tried("place_order")
        if placing is not None and "read_back" in (placing.facts.get("needs") or ()):
            if now.tried("reopen_order") is None and now.scene.can("reopen_order"):
                return [call("reopen_order"), *_transfer(now, _TO_ORDER_TAKER)]
        if now.went_wrong:
            return []
        if now.stage != "confirmed":
            return _transfer(now, _TO_ORDER_TAKER)
        methods = now.menu.restaurant.payment
        if (
            not now.order.get("payment")
            and len(methods) == 1
            and now.tried("choose_payment") is None
        ):
            return [call("choose_payment", method=methods[0])]
        return []

    def ask(self, now: Situation) -> str:
        """Ask for the next thing."""
        if self.wants_to_cancel(now):
            return cancel_question(now)
        if question := self.question(now):
            return question
        if now.topic is Topic.TIP and now.meant("yes") and now.order.get("tip") is None:
            return say("again tip")
        if now.topic is Topic.PAYMENT and now.meant("yes") and not now.order.get("payment"):
            return say("again payment", ways=now.menu.restaurant.payment)
        if now.topic is Topic.PLACE and now.meant("no") and not now.heard.commands:
            return say("ask wanted change")
        return joined(self.confused(now), money_question(now))


def _wants_change(now: Situation) -> bool:
    return (
        any(draft.op in CHANGING for draft in now.heard.commands)
        or now.meant("back")
        or (now.topic is not Topic.PAYMENT and _asks_of_order(now))
    )


def _asks_of_order(now: Situation) -> bool:
    """Whether something has to be asked back that is not about money."""
    question = now.heard.question
    if question is None or question.code == "coupon_not_valid":
        return False
    return question.facts.get("needs") not in ("payment", "tip", "tip_unit", "coupon", "email")


def _says_place(now: Situation) -> bool:
    if now.heard.commands or now.heard.question is not None or not now.order.get("payment"):
        return False
    # The reading asks for this, too, where it said all there is to say about paying.
    asked = now.topic is Topic.PLACE or (now.topic is Topic.CONFIRM and now.scene.opening)
    settled = not asks_tip(now)
    agrees = asked and now.meant("yes", "right", "done")
    return now.meant("place") and settled if not agrees else settled or now.topic is Topic.PLACE


def _places_without_tip(now: Situation) -> bool:
    """Whether the guest has it placed at the total that was read back: "cash, no tip, go ahead"."""
    if now.order.get("tip") is not None or not now.meant("place") or now.heard.question is not None:
        return False
    said = {one.op for one in now.heard.commands}
    declines = "set_tip" in said or now.topic is Topic.TIP
    given = any(any(one.fields.values()) for one in now.heard.commands if one.op == "set_tip")
    paid = now.order.get("payment") or "choose_payment" in said
    return bool(declines and paid and not given and said <= {"set_tip", "choose_payment"})


def _transfer(now: Situation, name: str) -> list[ToolCall]:
    return [call(name)] if now.scene.can(name) and now.tried(name) is None else []
