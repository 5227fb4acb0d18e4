"""Why something was not done, as those outside get it: code, sentence, facts, and whether to try again."""

import pickle
from collections.abc import Callable

import pytest

from state.shared import (
    Busy,
    JournalFault,
    KeyReused,
    LeaseHeld,
    LeaseLost,
    NotStored,
    OtherOwner,
    OutcomeUnknown,
    Refused,
    Stale,
    StateError,
    TakenOver,
    UnknownState,
    Unstorable,
)

ERRORS: list[tuple[Callable[[], StateError], str, bool, dict[str, object], str]] = [
    (
        lambda: Refused("The oven is cold.", since=3),
        "refused",
        False,
        {"since": 3},
        "The oven is cold.",
    ),
    (
        lambda: Refused("There is no room.", reason="no_room", nights=3),
        "no_room",
        False,
        {"nights": 3},
        "There is no room.",
    ),
    (
        lambda: Stale(2, 5),
        "version_conflict",
        True,
        {"seen": 2, "version": 5},
        "This was decided on version 2, and it has changed since: version 5 is the present one."
        " Look at it again, then decide.",
    ),
    (
        lambda: KeyReused(),
        "key_reused",
        False,
        {},
        "This key was used before for something else. Take a new key.",
    ),
    (
        lambda: Busy(0.5),
        "unavailable",
        True,
        {"waited_s": 0.5},
        "Another writer did not finish in time. Nothing was changed; try again.",
    ),
    (
        lambda: NotStored("the disk is full"),
        "unavailable",
        True,
        {"why": "the disk is full"},
        "This could not be stored just now (the disk is full), so nothing was changed."
        " Try again in a moment.",
    ),
    (
        lambda: Unstorable("it holds a number that is too long"),
        "unstorable",
        False,
        {"why": "it holds a number that is too long"},
        "This can never be stored (it holds a number that is too long), so nothing was changed."
        " Do not try the same again.",
    ),
    (
        lambda: OutcomeUnknown(),
        "outcome_unknown",
        True,
        {},
        "It is not known whether this was stored: the database stopped answering meanwhile."
        " Look at the present state before you try it again.",
    ),
    (
        lambda: TakenOver(),
        "taken_over",
        False,
        {},
        "Another process has taken over. Nothing was changed here.",
    ),
    (
        lambda: LeaseHeld(),
        "held",
        False,
        {},
        "Another holder has the lease on this place.",
    ),
    (
        lambda: LeaseLost(),
        "lost",
        False,
        {},
        "The lease on this place is lost: another holder has it, or it was ended.",
    ),
    (
        lambda: UnknownState("o-1"),
        "not_found",
        False,
        {"id": "o-1"},
        "There is no o-1 in this database.",
    ),
    (
        lambda: OtherOwner("o-1"),
        "other_owner",
        False,
        {"id": "o-1"},
        "o-1 belongs to another owner.",
    ),
    (
        lambda: JournalFault("orders.db", "it is no database"),
        "journal_fault",
        False,
        {"what": "orders.db", "why": "it is no database"},
        "orders.db cannot be used: it is no database.",
    ),
]


@pytest.mark.parametrize(("make", "code", "retryable", "facts", "says"), ERRORS)
def test_an_error_says_code_sentence_and_facts(
    make: Callable[[], StateError], code: str, retryable: bool, facts: dict[str, object], says: str
) -> None:
    error = make()

    assert (error.code, error.retryable, error.facts) == (code, retryable, facts)
    assert error.message == str(error) == says


def test_the_table_has_every_error_there_is() -> None:
    every = [*StateError.__subclasses__(), *NotStored.__subclasses__()]
    kinds = {kind for kind in every if kind.__module__.startswith("state.")}

    assert {type(make()) for make, *_ in ERRORS} == kinds


@pytest.mark.parametrize("make", [make for make, *_ in ERRORS])
def test_an_error_is_the_same_in_another_process(make: Callable[[], StateError]) -> None:
    error = make()
    again = pickle.loads(pickle.dumps(error))

    assert (type(again), again.message, again.facts) == (type(error), error.message, error.facts)
    assert again.code == error.code
    assert str(again) == str(error)


def test_a_sentence_is_no_reason() -> None:
    with pytest.raises(ValueError, match="reason='There is no room.' is not in lower snake case"):
        Refused("no_room", reason="There is no room.")
