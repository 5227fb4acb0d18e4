"""The next question of an order, whichever agent speaks: the guest may have gone on by themselves on their page."""

from bella_vista.local.answers import so_far
from bella_vista.local.english.sentences import allergy_words, joined, line_words, say
from bella_vista.local.policy import Situation, ToolCall, call
from bella_vista.local.reports import fulfilment_words, gets_it, warnings
from bella_vista.local.topics import Topic


def standing(now: Situation) -> str:
    """Say where the order stands, and ask for what comes next."""
    if now.stage == "review":
        return reading(now)
    return joined(so_far(now.order) if now.items else "", next_question(now))


def next_question(now: Situation) -> str:
    """Ask for what the order's stage waits for."""
    match now.stage:
        case "review":
            return confirm_question(now)
        case "confirmed":
            return money_question(now)
        case _:
            return say("ask anything_else" if now.items else "ask wanted")


def confirm_question(now: Situation) -> str:
    """Ask for the yes to the reading, which also places the order where nothing else is open."""
    return say("ask confirm" if _money_open(now) else "ask confirm place")


def reading(now: Situation) -> str:
    """Read the order back, with everything the guest says yes to."""
    order = now.order
    total = "reading total" if _money_open(now) else "all in all"
    allergies = [str(one) for one in order.get("allergies") or ()]
    return joined(
        say("reading", lines=[line_words(line) for line in now.items]),
        fulfilment_words(order),
        say("reading allergies", allergies=allergy_words(allergies)),
        warnings(now.items),
        now.answers.not_mentioned(allergies),
        say("reading age", names=[line["name"] for line in now.items if line.get("minimum_age")]),
        say(total, at=gets_it(now.order), **order),
        confirm_question(now),
    )


def money_question(now: Situation) -> str:
    """Ask how it is paid, then for the tip, then whether it shall be placed."""
    house = now.menu.restaurant
    match _money_open(now):
        case "payment":
            return say("ask payment", at=gets_it(now.order), ways=house.payment)
        case "tip":
            suggested = [f"{one.normalize():f}" for one in house.tip.suggested]
            return say("ask tip", percent=suggested)
    return joined(say("all in all", at=gets_it(now.order), **now.order), say("ask place"))


def _money_open(now: Situation) -> str:
    """Name what is not known yet about paying; nothing when the order could be placed."""
    if not now.order.get("payment"):
        return "payment"
    return "tip" if asks_tip(now) else ""


def asks_tip(now: Situation) -> bool:
    """Whether the guest is asked for a tip: the menu says that the house takes one, and none is known yet."""
    house = now.menu.restaurant
    takes = "tip" in house.model_fields_set and house.tip.maximum > 0
    return takes and now.order.get("tip") is None


def no_tip(now: Situation) -> list[ToolCall]:
    """Record that the guest gives no tip, if they decline when asked, or say yes twice and no amount."""
    declined = now.topic is Topic.TIP and now.meant("no", "nothing", "done")
    if now.topic is Topic.TIP and now.meant("yes", "right"):
        declined = say("again tip") in now.scene.last_said  # "yes, all correct" is about the order
    if declined and not any(draft.op == "set_tip" for draft in now.heard.commands):
        return [call("set_tip", percentage=0)]
    return []


def placed_words(now: Situation) -> str:
    """Say the order's number, when it is ready, and what it comes to."""
    fulfilment = now.order.get("fulfilment") or {}
    waits = now.stage in ("placed", "accepted", "preparing")
    return say("placed", **{**now.order, "ready": fulfilment.get("ready") if waits else None})
