"""Any order survives storing, and its view is the same in a page's JSON."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.app.replay.comparing import differences, time_fields
from agents.app.replay.running import comparable
from bella_vista.app import APP
from bella_vista.order_fields import OrderFields
from bella_vista.starting_order import commands_to
from state.commands import AddNote, OrderCommand
from state.digest import digest
from state.errors import OrderError
from state.money import shown
from state.order import OrderState, Stage
from state.shared import HandOver
from state.view import LARGEST_VIEW, fits_in_a_reply, view
from tests.state.bistro import Bistro
from tests.state.properties.cards import Card, Wanted, cards, menu_of, orders
from tests.state.properties.doings import (
    DISHES,
    GUEST,
    STAFF,
    TERMS,
    WORDS,
    next_step,
    outcome,
    tossed_about,
)
from tests.state.properties.effort import tried

doings = st.lists(st.one_of(GUEST, GUEST, STAFF, st.none(), st.none()), min_size=10, max_size=40)


@tried(50)
@given(doings)
def test_a_stored_order_is_the_same_order(todo: list[OrderCommand | None]) -> None:
    order = tossed_about(Bistro(), todo)

    again = OrderState.model_validate_json(order.model_dump_json())

    assert again == order
    assert again.model_dump_json() == order.model_dump_json()
    assert view(again, 7, "payment") == view(order, 7, "payment")
    assert OrderState.model_validate(order.model_dump()) == order


@tried(50)
@given(doings, st.integers(0, 10**9))
def test_a_view_is_plain_json_that_says_every_amount_twice(
    todo: list[OrderCommand | None], version: int
) -> None:
    order = tossed_about(Bistro(), todo)
    seen: dict[str, Any] = view(order, version, "order_taker")

    text = json.dumps(seen, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    assert json.loads(text) == seen
    assert len(text.encode()) <= LARGEST_VIEW
    assert fits_in_a_reply(order)
    assert list(seen) == list(view(Bistro().order(), 0, None))
    spoken = seen["display"]
    for name in ("subtotal", "tax", "tip", "total"):
        assert spoken[name] == shown(seen[name], order.currency)
    for line in seen["order_items"]:
        for name in ("unit_price", "line_total"):
            assert spoken["order_items"][line["id"]][name] == shown(line[name], order.currency)
        assert line["line_total"] == line["unit_price"] * line["quantity"]
    for kind in ("discounts", "fees"):
        codes = {charge["code"]: shown(charge["amount"], order.currency) for charge in seen[kind]}
        assert spoken[kind] == codes
    assert seen["item_count"] == sum(line["quantity"] for line in seen["order_items"])
    added = seen["tax"]
    taken_off = sum(charge["amount"] for charge in seen["discounts"])
    put_on = sum(charge["amount"] for charge in seen["fees"])
    assert seen["total"] == seen["subtotal"] - taken_off + put_on + added + seen["tip"]


@tried(25)
@given(st.lists(st.one_of(DISHES, TERMS, WORDS), min_size=5, max_size=30), st.integers(0, 9))
def test_an_order_made_from_its_view_has_the_same_view(
    todo: list[OrderCommand], steps: int
) -> None:
    bistro = Bistro()
    order = tossed_about(bistro, [*todo])
    for _ in range(steps):
        after = outcome(bistro, order, next_step(order))
        if isinstance(after, OrderError):
            break
        order = after
    if order.stage is Stage.FAILED:
        return
    fields = OrderFields.model_validate(view(order, 3, "greeter"))

    anew = Bistro()
    again = anew.order()
    for command in commands_to(fields):
        again = anew.after(again, command)

    bare = {"id": ""}
    assert [line.model_copy(update=bare) for line in again.order_items] == [
        line.model_copy(update=bare) for line in order.order_items
    ]
    wanted = comparable(fields.given, "order", APP.replay.generated)
    unlike = [
        difference
        for difference in differences(wanted, view(again, 3, "greeter"), time_fields(OrderState))
        # Lines are numbered anew, so what is shown under their ids may stand under others.
        if not difference.field.startswith("display.order_items")
    ]
    assert unlike == []


@tried(25)
@given(
    st.lists(st.sampled_from(["w", "\u00e9", "\u6f22", "\U0001f355"]), min_size=10, max_size=30),
    doings,
)
def test_an_order_never_grows_beyond_what_a_page_can_be_sent(
    signs: list[str], todo: list[OrderCommand | None]
) -> None:
    bistro = Bistro()
    notes = [AddNote(title="again", content=sign * 280) for sign in signs for _ in range(2)]
    order = tossed_about(bistro, [*notes, *todo, *notes])

    text = json.dumps(view(order, 10**9, "x" * 40), ensure_ascii=False, separators=(",", ":"))
    assert len(text.encode()) <= LARGEST_VIEW


@tried(25)
@given(st.data())
def test_the_words_of_a_line_can_be_put_in_again(data: st.DataObject) -> None:
    drawn: Card = data.draw(cards())
    bistro = Bistro(menu_of(drawn))
    wanted: list[Wanted] = data.draw(orders(drawn))
    order = bistro.order(*(one.command() for one in wanted))
    names = ("name", "size", "quantity", "modifications", "parts")

    seen: Any = view(order, 1, None)
    again = bistro.order()
    for line in seen["order_items"]:
        command = {name: line[name] for name in names if line[name]}
        fields = OrderFields.model_validate({"order_items": [command]})
        again = bistro.after(again, *commands_to(fields))

    assert again.order_items == order.order_items


@tried(20)
@given(doings)
def test_the_digest_is_one_line_of_json_with_the_view_s_total(
    todo: list[OrderCommand | None],
) -> None:
    order = tossed_about(Bistro(), todo)
    total: Any = view(order, 3, None)["total"]

    text = digest(order, 3)
    known = json.loads(text)

    assert "\n" not in text
    assert known["version"] == 3
    assert known["stage"] == order.stage.value
    if order.order_items:
        assert known["total"] == shown(total, order.currency)


@tried(40)
@given(GUEST | STAFF | st.builds(HandOver, target=st.text(max_size=30)))
def test_a_command_is_written_with_nothing_that_was_left_open(
    command: OrderCommand | HandOver,
) -> None:
    written = command.written()

    assert json.loads(json.dumps(written)) == written
    assert written["op"] == command.op
    assert type(command).model_validate(written) == command
    with pytest.raises(ValueError, match="extra"):
        type(command).model_validate({**written, "total": 0})
