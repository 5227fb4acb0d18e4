"""Possible meanings of a guest's line: wishes, questions, small talk, and questions to ask back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Draft:
    """A command as the guest's words give it: its name and the fields that were said."""

    op: str
    fields: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it as the command is written."""
        return {"op": self.op, **self.fields}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the guest's.

    Args:
        kind: ``price``, ``hours``, ``contents``, ``allergens``, ``diets``, ``menu``, ``section``,
            ``total``, ``order``, ``service``, ``payment`` or ``facts``.
        subject: The dish, section, choice, group or fact it is about, as the menu calls it.
        size: The size it is about.
        allergen: What the guest wants to know of, in an allergen question.
        diet: The diet that is meant.
        words: What was named and is not on the menu.
        day: The day meant, of a question about hours; "now" for when it closes or opens next.
        aspect: What of the subject is asked: its ``size``, which ``sizes`` its dishes have, how ``spicy``
            it is, the ``fee``, ``minimum``, ``area`` or ``wait`` of a service, or the ``number`` of the
            order; of the whole menu, whether dishes ``with`` or ``without`` something are asked for.
        groups: The groups whose choices are asked for.
        dish: The dish that is named where the subject is a fact or a group.
    """

    kind: str
    subject: str | None = None
    size: str | None = None
    allergen: str | None = None
    diet: str | None = None
    words: str | None = None
    day: str | None = None
    aspect: str | None = None
    groups: tuple[str, ...] = ()
    dish: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Something to ask the guest before their wish can be carried out.

    Args:
        code: As the order's refusals: ``choice_missing``, ``ambiguous``, ``not_on_menu``,
            ``choice_not_possible``, ``choice_refused`` (of a line of the order), ``sold_out``,
            ``over_limit``, ``coupon_not_valid``, ``not_valid``, ``not_possible``, ``not_found``,
            ``missing``; ``which_line``; and ``either``, which of two orders is meant.
        facts: What a sentence is made from.
        draft: The wish that waits for the answer.
        rest: Further questions about the same line, to be asked one after the other.
        waited: Whether the guest's last message left it unanswered.
    """

    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    draft: Draft | None = None
    rest: tuple["Question", ...] = ()
    waited: bool = False

    @property
    def possible(self) -> tuple[str, ...]:
        """The answers there are, in the order they are named."""
        return tuple(str(one) for one in self.facts.get("possible") or self.facts.get("near") or ())


NO_PERSON: frozenset[str] = frozenset()


def not_left_off(words: str) -> Question:
    """Say that something is to be left off that was not found."""
    return Question("not_on_menu", {"words": words, "near": [], "denied": True})


@dataclass(frozen=True, slots=True)
class LineSeen:
    """A line of the order, as its digest shows it, and the person for whom it was ordered.

    ``person`` has the words that point at them, as in ``persons.Share``; none where they are not known.
    """

    id: str
    quantity: int
    name: str
    size: str | None = None
    modifications: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    person: frozenset[str] = field(default=NO_PERSON, compare=False)


@dataclass(frozen=True, slots=True)
class OrderSeen:
    """The order as a model sees it.

    Args:
        items: Its lines, oldest first.
        fulfilment: ``pickup`` or ``delivery``, once it is known.
        coupons: The codes on it.
        total: What it comes to, in minor units.
        tip: What of that is tip, in minor units.
        reviewed: Whether it has been read back and waits for a yes.
        before: The order before what the guest changed last.
        allergies: The allergies that are noted, in the guest's words.
        sold_out: The names of its dishes and combos that are sold out now.
    """

    items: tuple[LineSeen, ...] = ()
    fulfilment: str | None = None
    address: str | None = None
    coupons: tuple[str, ...] = ()
    total: int | None = None
    tip: int | None = None
    reviewed: bool = False
    before: "OrderSeen | None" = None
    allergies: tuple[str, ...] = ()
    sold_out: tuple[str, ...] = ()

    @classmethod
    def from_digest(cls, digest: Mapping[str, Any]) -> "OrderSeen":
        """Read what an agent is shown; what is not there, or is not what it should be, is not known."""
        lines = [line for line in digest.get("items") or () if isinstance(line, Mapping)]
        fulfilment = digest.get("fulfilment")
        kind = fulfilment.get("kind") if isinstance(fulfilment, Mapping) else None
        address = fulfilment.get("address") if isinstance(fulfilment, Mapping) else None
        return cls(
            items=tuple(
                LineSeen(
                    id=str(line.get("id", "")),
                    quantity=_whole(line.get("quantity")),
                    name=str(line.get("name", "")),
                    size=str(line["size"]) if line.get("size") else None,
                    modifications=tuple(str(one) for one in line.get("modifications") or ()),
                    parts=tuple(str(one) for one in line.get("parts") or ()),
                )
                for line in lines
            ),
            fulfilment=str(kind) if kind else None,
            address=str(address) if address else None,
            coupons=tuple(str(code) for code in digest.get("coupons") or ()),
            total=minor(digest.get("total")),
            tip=minor(digest.get("tip")),
            reviewed=digest.get("stage") == "review",
            allergies=tuple(str(one) for one in digest.get("allergies") or ()),
            sold_out=tuple(str(one) for one in digest.get("sold_out") or ()),
        )


NO_ORDER = OrderSeen()


@dataclass(frozen=True, slots=True)
class Understanding:
    """The meaning of one line of the guest's.

    Args:
        text: The line.
        commands: What is to be done, in the order it was said.
        answers: What the guest wants to know.
        intents: Small talk and single words that an agent acts on: ``yes``, ``no``, ``done``, ``greeting``,
            ``right``, ``thanks``, ``bye``, ``human``, ``robot``, ``cancel``, ``repeat``, ``order``, ``back``,
            ``status``, ``nothing``, ``place``, ``wait``, ``booking``, ``rules``, ``age``,
            ``recorded``, ``puzzled``.
        question: What has to be asked back.
        settled: Whether the question that was pending has been answered.
        not_understood: The guest's words that are in no command and no question.
        dropped: What is not ordered after all, because it was not said which: "the Margherita".
        unchanged: What is not changed after all, because it was not said which one or how: "the Margherita".
        taken: The likelier of two orders that were never chosen between, as they were asked about.
        unmet: What is not ordered because it hangs on an answer that is another one.
        plain: The dishes that are ordered as they come, because they cannot be had as was said: "the soup".
        already: Whether it asks for nothing but what the order has already.
        age: How old the guest says that they are, in years.
    """

    text: str
    commands: tuple[Draft, ...] = ()
    answers: tuple[Asked, ...] = ()
    intents: tuple[str, ...] = ()
    question: Question | None = None
    settled: bool = False
    not_understood: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    already: bool = False
    age: int | None = None

    @property
    def understood(self) -> bool:
        """Whether anything at all was understood."""
        return bool(self.commands or self.answers or self.intents or self.question)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 1


def minor(shown: object) -> int | None:
    """Read an amount as the digest shows it: "$28.47", "28,47 €", "¥1,200"."""
    if not isinstance(shown, str) or "%" in shown:
        return None
    found = re.search(r"\d[\d.,]*", shown)
    if found is None:
        return None
    digits = found.group().rstrip(".,")
    return int(re.sub(r"\D", "", digits))
