"""An order makes only allowed transitions, for any sequence of commands of guests and staff."""

from hypothesis import given
from hypothesis import strategies as st

from state.commands import ORDER_COMMANDS, OrderCommand, PlaceOrder, ReadBack
from state.errors import OrderError
from state.order import Stage
from state.stages import ENDED, can_place, can_read_back
from tests.state.bistro import Bistro
from tests.state.properties.doings import ENDS, GUEST, STAFF, next_step, outcome, tossed_about
from tests.state.properties.effort import tried
from tests.state.properties.laws import Law, check_against_the_card

doings = st.lists(
    st.one_of(GUEST, GUEST, STAFF, st.none(), st.none(), st.integers(1, 90)),
    min_size=12,
    max_size=50,
)
"""Commands; ``None`` is what would bring the order on; a number is minutes that pass."""


@tried(100)
@given(st.integers(0, 11), doings, st.lists(ENDS, max_size=1))
def test_no_sequence_of_commands_leaves_the_law(
    steps: int, todo: list[OrderCommand | int | None], end: list[OrderCommand]
) -> None:
    bistro, law = Bistro(), Law()
    order = bistro.order()
    for doing in [*[None] * steps, *todo, *end]:
        if isinstance(doing, int):
            bistro.wait(minutes=doing)
            continue
        command = doing or next_step(order)
        before, written = order, order.model_dump_json()
        after = outcome(bistro, order, command)
        # Neither a refusal nor a change edits the state it was given.
        assert before.model_dump_json() == written
        if not isinstance(after, OrderError):
            order = after
            law.follow(before, order, command.op)
            check_against_the_card(order)


@tried(30)
@given(doings)
def test_the_conditions_tell_what_the_commands_then_do(
    todo: list[OrderCommand | int | None],
) -> None:
    bistro = Bistro()
    for length in range(0, len(todo), 4):
        order = tossed_about(bistro, todo[:length])
        for command, condition in ((ReadBack(), can_read_back), (PlaceOrder(), can_place)):
            refusal = condition(order)
            after = outcome(bistro, order, command)
            if refusal is not None:
                assert isinstance(after, OrderError)
                assert (after.code, after.facts) == (refusal.code, refusal.facts)


@tried(40)
@given(doings)
def test_an_order_in_any_condition_can_be_completed(todo: list[OrderCommand | int | None]) -> None:
    """However the order was confused before, a few sensible steps bring it to its end."""
    bistro = Bistro()
    order = tossed_about(bistro, todo)
    for _ in range(12):
        if order.stage in ENDED:
            return
        after = outcome(bistro, order, next_step(order))
        if isinstance(after, OrderError):
            # Only what a guest has to decide first may hold it up.
            assert after.code in (
                "missing",
                "not_possible",
                "not_valid",
                "not_served",
                "over_limit",
            )
            return
        order = after
    assert order.stage is Stage.COMPLETED


@tried(40)
@given(doings)
def test_a_command_written_down_does_the_same_when_it_is_read(
    todo: list[OrderCommand | int | None],
) -> None:
    one, other = Bistro(), Bistro()
    order = again = one.order()
    for doing in todo:
        if isinstance(doing, int):
            continue
        command = doing or next_step(order)
        copy = ORDER_COMMANDS.validate_python(command.written())
        assert copy == command
        first, second = outcome(one, order, command), outcome(other, again, copy)
        if isinstance(first, OrderError):
            assert isinstance(second, OrderError)
            assert (first.code, first.facts) == (second.code, second.facts)
        else:
            assert first == second
            order = again = first
