"""The OrderTaker: takes down, asks back, reads the order back, and hands over on a yes."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bella_vista.local.english.sentences import counted, joined, line_words, say
from bella_vista.local.policy import (
    CHANGING,
    ORDERING,
    Policy,
    Situation,
    ToolCall,
    call,
    cancel_question,
    drafts,
    too_young,
)
from bella_vista.local.scene import Outcome
from bella_vista.local.steps import (
    confirm_question,
    money_question,
    no_tip,
    reading,
    standing,
)
from bella_vista.local.topics import Topic, topic
from state.menu import Dish

_TAKEN = (
    *("set_fulfilment", "add_item", "change_item", "remove_item"),
    *("apply_coupon", "remove_coupon", "set_tip", "choose_payment"),
)
_OF_LINES = frozenset({"add_item", "change_item", "remove_item"})
_IN_THE_READING = _OF_LINES | {"set_fulfilment", "add_allergy", "read_back"}
_BESIDE_A_YES = frozenset({"choose_payment", "set_tip", "set_customer", "add_note"})
"""Changes that need no second reading: "it's right, put it under Nguyen"."""
_ON_THE_WAY = (Topic.FULFILMENT, Topic.ADDRESS, Topic.POSTCODE, Topic.NAME, Topic.WHEN)
"""Questions that come after the guest has everything: once they are settled the order is read back."""


class OrderTakerPolicy(Policy):
    """Plays the OrderTaker."""

    def open(self, now: Situation) -> str:
        """Go on where the order stands."""
        lost = [str(one) for one in now.order.get("gone") or ()]
        gone, back = say("gone", gone=lost), say("welcome back")
        if now.stage == "review":
            return joined(back, gone, reading(now))
        if now.stage == "confirmed":
            return joined(back, gone, standing(now))
        if now.items:
            lines = [line_words(line) for line in now.items]
            so_far = say("so far back", lines=lines, total=now.order["total"])
            return joined(back, gone, so_far, say("ask anything_else"))
        return joined(back if now.scene.welcomes_back else "", gone, say("ask wanted"))

    def calls(self, now: Situation) -> Sequence[ToolCall]:
        """Take down what was said; when the guest has everything, go on to the reading and beyond."""
        if not now.scene.outcomes:
            if now.stage == "confirmed" and self.goes_on_to_pay(now) and (away := _transfer(now)):
                return away
            taken = [
                *self.cancelling(now),
                *_remove_for_age(now),
                *drafts(now, *_TAKEN),
                *_suggested(now),
                *(no_tip(now) if now.stage == "confirmed" else ()),
            ]
            if now.stage == "review" and _asked_to_confirm(now) and _agrees(now):
                return [*taken, call("confirm_order"), *_transfer(now)]
            if taken:
                return taken
        if soonest := _soonest(now):
            return soonest
        if now.stage == "confirmed":
            done = now.did("confirm_order") or _agrees(now) or has_all(now)
            return _transfer(now) if done and not now.went_wrong else []
        if self.is_complete(now):
            return _next_call(now)
        return []

    def ask(self, now: Situation) -> str:
        """Ask what is missing for the next step."""
        if self.wants_to_cancel(now):
            return cancel_question(now)
        if (again := _where_to(now)) or (again := self.question(now)) or _asked_by_refusal(now):
            return again
        if now.stage == "review" and (now.did("read_back") or now.topic is Topic.CONFIRM):
            return _after_reading(self, now)
        if now.stage == "confirmed":
            return joined(self.confused(now), money_question(now))
        if now.items and self.is_complete(now):
            return _missing(now) or reading(now)
        return joined(self.confused(now), self._next(now))

    def goes_on_to_pay(self, now: Situation) -> bool:
        """Whether what the guest says to a confirmed order is for Payment to take up."""
        if now.heard.question is not None or self.wants_to_cancel(now) or now.topic is Topic.KEEP:
            return False
        if any(draft.op in CHANGING for draft in now.heard.commands):
            return False
        about_paying = any(
            draft.op in ("choose_payment", "set_tip") for draft in now.heard.commands
        )
        return about_paying or now.meant("yes", "no", "nothing", "done", "place", "right")

    def worth_saying(self, now: Situation) -> Sequence[Outcome]:
        """Leave out reports that the reading repeats, except those of a correction made just now."""
        if not now.did("read_back"):
            return now.scene.outcomes
        corrected = _OF_LINES if now.topic is Topic.CONFIRM else frozenset()
        told = _IN_THE_READING - corrected
        return [one for one in now.scene.outcomes if one.name not in told or not one.done]

    def is_complete(self, now: Situation) -> bool:
        """Whether the guest has everything, as far as they have said."""
        if now.heard.question is not None or now.went_wrong or self.wants_to_cancel(now):
            return False
        agreed = now.topic is Topic.CONFIRM and now.meant("yes", "right")
        if agreed or (now.topic in (Topic.CONFIRM, Topic.PLACE) and now.scene.outcomes):
            return True  # a correction of what was read back is read back at once
        if has_all(now) or now.meant("place"):
            return True
        if now.topic is Topic.MINIMUM and now.did("set_fulfilment"):
            return True
        if now.topic in _ON_THE_WAY:
            added = any(draft.op == "add_item" for draft in now.heard.commands)
            answered = any(
                draft.op in ("set_fulfilment", "set_customer") for draft in now.heard.commands
            )
            lost = now.nothing_meant or now.meant("puzzled")
            return not lost and (not added or answered)
        if _pays(now):
            return not _orders(now)  # they pay once they have everything
        # Another agent sent the guest back with words that are on the order already.
        return now.scene.opening and bool(now.order.get("fulfilment")) and not now.scene.outcomes

    def _next(self, now: Situation) -> str:
        if not now.items:
            nothing = say("so far nothing") if has_all(now) else ""
            return joined(nothing, say("ask wanted"))
        if now.topic in _ON_THE_WAY and not now.heard.commands:
            return _missing(now) or say("ask name")
        if now.did("add_item") and (offer := suggestion(now)):
            return say("ask suggestion", offer=counted(1, offer))
        if now.heard.settled and now.meant("no", "nothing") and not now.heard.commands:
            return say("ask anything_else")  # the dish that was asked about is not wanted after all
        declines = now.meant("no") and not now.heard.commands  # "no, two tiramisus"
        if now.topic is Topic.CONFIRM or (declines and not now.scene.opening):
            return say("ask wanted change")
        more = now.meant("yes") and not (now.heard.answers or now.heard.commands)
        if now.topic is Topic.ANYTHING_ELSE and more:
            return say("ask wanted more")
        return say("ask anything_else")


def has_all(now: Situation) -> bool:
    """Whether the guest said that this is all."""
    if now.meant("done"):
        return True
    last = _last_asked(now)
    if last is Topic.READ_AGAIN and not now.heard.commands:
        return now.meant("yes", "right", "no", "nothing", "place")
    asked = last in (Topic.ANYTHING_ELSE, Topic.SUGGESTION)
    more = now.scene.last_said.endswith((say("ask wanted more"), say("ask wanted change")))
    if now.heard.commands or not (asked or more):
        return False
    return now.meant("no", "nothing", "right") or (more and now.meant("yes"))


def _orders(now: Situation) -> bool:
    """Whether the guest ordered or changed food."""
    return any(draft.op in _OF_LINES for draft in now.heard.commands)


def _pays(now: Situation) -> bool:
    """Whether the guest said how they pay, or what they tip."""
    return any(draft.op in ("choose_payment", "set_tip") for draft in now.heard.commands)


def suggestion(now: Situation) -> str | None:
    """Return the house's offer for a dish that was just added; each is made once."""
    if any(topic(text) is Topic.SUGGESTION for text in now.scene.said):
        return None
    added = {str(one.arguments.get("name")) for one in now.scene.outcomes if one.name == "add_item"}
    sections = {dish.section for name in added if (dish := now.menu.dish(name)) is not None}
    have = {str(line["name"]) for line in now.items}
    had = {dish.section for name in have if (dish := now.menu.dish(name)) is not None}
    for one in now.menu.suggestions:
        offered = now.menu.dish(one.offer) or now.menu.combo(one.offer)
        if offered is None or not offered.available or not now.menu.served(offered, now.now):
            continue
        if one.after not in added | sections or offered.name in have:
            continue
        if isinstance(offered, Dish) and offered.section in had:
            continue  # no house salad to a caesar salad
        return offered.name
    return None


def _suggested(now: Situation) -> list[ToolCall]:
    """Take down what was offered, when the guest says yes to it."""
    if now.topic is not Topic.SUGGESTION or not now.meant("yes") or now.heard.commands:
        return []
    if now.meant("age"):
        return []  # "yes, I am over twenty one"
    offers = (one.offer for one in now.menu.suggestions)
    asked = now.scene.last_said
    said = (one for one in offers if say("ask suggestion", offer=counted(1, one)) in asked)
    name = next(said, None)  # something else may have been said since
    return [] if name is None else [call("add_item", name=name, quantity=1, modifications=[])]


def _remove_for_age(now: Situation) -> list[ToolCall]:
    """Remove the lines for which the guest has just said that they are too young."""
    names = too_young(now)
    lines = [line["id"] for line in now.items if line["name"] in names]
    return [call("remove_item", line_id=one) for one in lines] if now.stage in ORDERING else []


def _next_call(now: Situation) -> Sequence[ToolCall]:
    if not now.items:
        return []
    if now.order.get("fulfilment") is None:
        offered = _ways(now)
        if len(offered) == 1 and now.tried("set_fulfilment") is None:
            return [call("set_fulfilment", kind=offered[0])]
        return []
    if now.stage == "open" and not _missing(now) and now.tried("read_back") is None:
        return [call("read_back")]
    return []


def _ways(now: Situation) -> list[str]:
    house = now.menu.restaurant
    return [kind for kind in ("pickup", "delivery") if getattr(house, kind) is not None]


def _missing(now: Situation) -> str:
    """The question for what the order still needs; nothing when it can be read back."""
    fulfilment = now.order.get("fulfilment")
    if fulfilment is None:
        if now.lacks_postcode:
            return say("ask postcode")
        return say("ask when" if now.lacks_time else "ask fulfilment")
    if fulfilment.get("kind") == "delivery" and not fulfilment.get("address"):
        return say("ask address")
    if not now.order.get("guest") and not now.scene.said_before(say("ask name")):
        return say("ask name")
    return ""


def _where_to(now: Situation) -> str:
    """Ask again for what a delivery could not be taken down for."""
    tried = [one for one in now.scene.outcomes if one.name == "set_fulfilment"]
    refused = [] if any(one.done for one in tried) else tried
    if any(one.facts.get("needs") == ["postcode"] for one in refused):
        return say("ask postcode")
    if any(one.facts.get("why") in ("too_soon", "closed", "past") for one in refused):
        return say("ask when")
    if refused and len(_ways(now)) > 1:
        return say("ask fulfilment")
    if refused and now.order.get("fulfilment") is not None:
        return _missing(now) or ("" if now.order.get("guest") else say("ask name"))
    reading = now.tried("read_back")
    if reading is not None and reading.facts.get("why") == "below_minimum":
        return say("ask minimum")
    if now.topic is Topic.MINIMUM and now.meant("yes") and not now.heard.commands:
        return say("ask wanted more")
    if now.topic is Topic.MINIMUM and now.meant("no", "nothing") and not now.heard.commands:
        return say("ask fulfilment")
    if now.topic in (Topic.ADDRESS, Topic.POSTCODE) and now.meant("no", "nothing"):
        return say("ask fulfilment")
    return ""


def _after_reading(policy: OrderTakerPolicy, now: Situation) -> str:
    if now.did("read_back"):
        return reading(now)
    if now.meant("no") and not now.heard.commands:
        return say("ask wanted change")
    noted = bool(now.scene.outcomes) and all(
        one.name == "add_allergy" for one in now.scene.outcomes
    )
    if now.heard.answers or noted:
        return confirm_question(now)  # what an allergy means for the order has just been said
    if now.nothing_meant:
        return joined(policy.confused(now), confirm_question(now))
    return reading(now)


def _soonest(now: Situation) -> list[ToolCall]:
    """Take down a pickup or a delivery that was wanted too soon as soon as it is possible."""
    tried = [one for one in now.scene.outcomes if one.name == "set_fulfilment"]
    if len(tried) != 1 or tried[0].facts.get("why") != "too_soon":
        return []
    when = None
    if (now.order.get("fulfilment") or {}).get("when"):  # it would be kept
        soonest = datetime.fromisoformat(str(tried[0].facts["possible"][0]))
        begun = timedelta(minutes=1 if soonest.second or soonest.microsecond else 0)
        when = (soonest.replace(second=0, microsecond=0) + begun).isoformat()
    return [call("set_fulfilment", **{**tried[0].arguments, "when": when})]


def _asked_to_confirm(now: Situation) -> bool:
    """Whether the last words asked for the yes to the order, and not which line was meant."""
    return _last_asked(now) is Topic.CONFIRM


def _last_asked(now: Situation) -> Topic:
    """Return the question of the last words: this agent's, or the one's before if this one has not spoken yet."""
    return now.topic if now.scene.opening else topic(now.scene.last_said)


def _agrees(now: Situation) -> bool:
    """Whether the guest says yes to the reading, or goes on to pay: "that's right", "card, please"."""
    if now.heard.question is not None:
        return False
    if made := drafts(now, *(one.op for one in now.heard.commands)):
        paying = all(one.name in ("choose_payment", "set_tip") for one in made)
        beside = now.meant("yes", "right", "place") and all(
            one.name in _BESIDE_A_YES for one in made
        )
        return (paying or beside) and not now.meant("no")
    return now.meant("yes", "place", "done") or (now.meant("right") and not now.meant("no"))


def _asked_by_refusal(now: Situation) -> bool:
    """Whether what was refused ends in a question or a choice of its own."""
    only_way = len(_ways(now)) == 1
    return any(
        one.facts.get("possible") or one.facts.get("near")
        for one in now.scene.outcomes
        if not (only_way and one.name == "set_fulfilment")
    )


def _transfer(now: Situation) -> list[ToolCall]:
    name = "transfer_to_payment"
    if now.scene.can(name) and now.tried(name) is None:
        return [call(name)]
    return []
