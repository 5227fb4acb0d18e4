"""What staff set for the house: the rules of a call that runs, the menu, and the words for it."""

import asyncio
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from types import FrameType
from typing import Any
from uuid import uuid4

import pytest

from agents.app.live import LiveSettings
from bella_vista.house import house_of, set_house
from bella_vista.menus import menu_file
from rpc.gateway.errors import BadParams
from rpc.menu_pages import pages_of, whole_menu
from state.commands import (
    AddItem,
    ChangeItem,
    ChoosePayment,
    ConfirmOrder,
    Part,
    PlaceOrder,
    ReadBack,
    SetFulfilment,
)
from state.context import OrderContext
from state.errors import NotOnMenu, NotPossible, SoldOut
from state.menu import load_menu
from state.opening import open_order
from state.order import OrderState
from state.shared import JournalFault, SharedState


class Service:
    """A call under way, and staff who set the house."""

    def __init__(self) -> None:
        self.live = LiveSettings()
        self.context = OrderContext(
            menu=load_menu(menu_file(None)),
            now=lambda: datetime(2026, 11, 20, 23, 0, tzinfo=UTC),
            new_id=lambda: str(uuid4()),
            house=house_of(self.live),
            refresh=self.live.refresh,
        )
        order = open_order(
            self.context.menu,
            order_id="a",
            order_number="101",
            channel="web_text",
            now=self.context.now(),
        )
        self.shared: SharedState[OrderState, OrderContext] = SharedState(order, self.context)

    def staff_set(self, **sent: object) -> None:
        present = self.live.values.get("house") or {}
        assert isinstance(present, dict)
        changed = set_house(self.context, present, sent)  # type: ignore[arg-type]
        self.live.values = {"house": {**changed}}

    async def apply(self, *commands: object) -> None:
        for command in commands:
            await self.shared.apply(command, actor="guest")  # type: ignore[arg-type]


async def test_what_is_sold_out_now_is_refused_and_something_near_is_named() -> None:
    service = Service()
    await service.apply(AddItem(name="Tiramisu", quantity=1))
    service.staff_set(sold_out=["tiramisu"])

    with pytest.raises(SoldOut) as refused:
        await service.apply(AddItem(name="Tiramisu", quantity=1))

    assert refused.value.facts["name"] == "Tiramisu"
    assert "Tiramisu" not in refused.value.facts["near"]  # type: ignore[operator]
    service.staff_set(sold_out=[])
    await service.apply(AddItem(name="Tiramisu", quantity=1))
    assert service.shared.state.order_items[0].quantity == 2


async def test_a_line_that_is_sold_out_meanwhile_is_neither_read_back_nor_placed() -> None:
    service = Service()
    await service.apply(
        AddItem(name="Tiramisu", quantity=1),
        SetFulfilment(kind="pickup"),
        ChoosePayment(method="cash"),
    )
    service.staff_set(sold_out=["Tiramisu"])
    with pytest.raises(SoldOut):
        await service.apply(ReadBack())
    service.staff_set(sold_out=[])
    await service.apply(ReadBack(), ConfirmOrder())
    service.staff_set(sold_out=["Tiramisu"])
    with pytest.raises(SoldOut):
        await service.apply(PlaceOrder())

    line = service.shared.state.order_items[0].id
    await service.apply(ChangeItem(line_id=line, name="Panna Cotta"), ReadBack(), ConfirmOrder())
    await service.apply(PlaceOrder())

    assert service.shared.state.stage == "placed"


async def test_of_a_line_that_is_sold_out_meanwhile_there_can_be_fewer_but_not_more() -> None:
    service = Service()
    await service.apply(AddItem(name="Tiramisu", quantity=3))
    service.staff_set(sold_out=["Tiramisu"])
    line = service.shared.state.order_items[0].id

    with pytest.raises(SoldOut) as refused:
        await service.apply(ChangeItem(line_id=line, quantity=4))
    await service.apply(ChangeItem(line_id=line, note="on one plate"))
    await service.apply(ChangeItem(line_id=line, quantity=3))
    await service.apply(ChangeItem(line_id=line, quantity=2))

    assert refused.value.facts["name"] == "Tiramisu"
    assert [(one.quantity, one.note) for one in service.shared.state.order_items] == [
        (2, "on one plate")
    ]
    await service.apply(ChangeItem(line_id=line, name="Panna Cotta", quantity=5))
    assert service.shared.state.order_items[0].quantity == 5


async def test_there_cannot_be_more_of_a_combo_with_a_part_that_is_sold_out_meanwhile() -> None:
    service = Service()
    await service.apply(
        AddItem(
            name="Pasta and a glass",
            quantity=2,
            parts=(Part(name="Lasagna"), Part(name="House red"), Part(name="Tiramisu")),
        )
    )
    line = service.shared.state.order_items[0]
    service.staff_set(sold_out=["Lasagna"])

    with pytest.raises(SoldOut) as refused:
        await service.apply(ChangeItem(line_id=line.id, quantity=3))
    await service.apply(ChangeItem(line_id=line.id, quantity=1))

    assert refused.value.facts["name"] == "Lasagna"


async def test_while_orders_are_paused_none_is_read_back_or_placed() -> None:
    service = Service()
    await service.apply(
        AddItem(name="Tiramisu", quantity=1),
        SetFulfilment(kind="pickup"),
        ChoosePayment(method="cash"),
        ReadBack(),
        ConfirmOrder(),
    )
    service.staff_set(paused=True)
    with pytest.raises(NotPossible) as refused:
        await service.apply(PlaceOrder())
    service.staff_set(paused=False)
    await service.apply(PlaceOrder())

    assert refused.value.facts["why"] == "paused"
    assert service.shared.state.stage == "placed"


def test_the_menu_shows_it_under_another_version() -> None:
    service = Service()
    before = whole_menu(service.context)
    service.staff_set(sold_out=["Tiramisu"], paused=True)
    after = whole_menu(service.context)

    def available(menu: Any) -> dict[str, bool]:
        return {
            dish["name"]: dish["available"]
            for section in menu["sections"]
            for dish in section["dishes"]
        }

    assert before["menu_version"] != after["menu_version"]
    assert available(before)["Tiramisu"]
    assert {name for name, there in available(after).items() if not there} == {
        "Tiramisu",
        *(name for name, there in available(before).items() if not there),
    }
    assert (before["house"]["paused"], after["house"]["paused"]) == (False, True)  # type: ignore[index,call-overload]


def interrupted(line: int, function: Any, read: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """Read something, with another read before a line of the function, as a second thread does it."""
    run = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal run
        if frame.f_code is not function.__code__:
            return None
        if event == "line":
            run += 1
            if run == line:
                other()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return read()
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("line", range(1, 7))
def test_the_menu_may_be_read_in_threads_while_staff_change_it(line: int) -> None:
    service = Service()
    context, menu = service.context, service.context.menu

    def version(sold_out: str) -> str:
        service.live.values = {"house": {"sold_out": [sold_out]}}
        return context.menu.version

    service.live.values = {"house": {"sold_out": ["Tiramisu"]}}
    interrupted(
        line,
        vars(OrderContext)["menu"].fget,
        lambda: context.menu,
        lambda: version("Cannoli"),
    )

    for name in ("Tiramisu", "Cannoli"):
        assert version(name) == menu.without([name]).version


@pytest.mark.parametrize("line", range(1, 6))
def test_the_pages_of_two_menus_may_be_read_in_threads(line: int) -> None:
    menu = Service().context.menu
    other = menu.without(["Tiramisu"])
    pages_of(other)

    pages = interrupted(line, pages_of, lambda: pages_of(menu), lambda: pages_of(other))

    assert pages.menu is menu


def test_only_what_is_given_changes() -> None:
    service = Service()
    service.staff_set(sold_out=["Tiramisu", "tiramisu"])
    service.staff_set(paused=True)

    assert service.live.values == {"house": {"paused": True, "sold_out": ["Tiramisu"]}}


@pytest.mark.parametrize("sent", [{"open": True}, {"paused": "yes"}, {"sold_out": "Tiramisu"}])
def test_what_cannot_be_set_is_refused(sent: dict[str, object]) -> None:
    with pytest.raises(BadParams):
        Service().staff_set(**sent)


def test_what_is_not_on_the_menu_cannot_be_sold_out() -> None:
    with pytest.raises(NotOnMenu):
        Service().staff_set(sold_out=["Sushi"])


def test_a_sold_out_dish_that_has_left_the_menu_is_kept_until_staff_take_it_off() -> None:
    service = Service()
    service.live.values = {"house": {"sold_out": ["Grandma's Trifle", "Marghérita"]}}

    service.staff_set(sold_out=["Grandma's Trifle", "Marghérita", "tiramisu"])
    kept = service.live.values
    with pytest.raises(NotOnMenu):
        service.staff_set(sold_out=["Grandma's Trifle", "Sushi"])
    service.staff_set(sold_out=["Tiramisu"])

    assert kept == {
        "house": {"paused": False, "sold_out": ["Grandma's Trifle", "Marghérita", "Tiramisu"]}
    }
    assert service.live.values == {"house": {"paused": False, "sold_out": ["Tiramisu"]}}
    with pytest.raises(NotOnMenu):
        service.staff_set(sold_out=["Grandma's Trifle"])


@pytest.mark.parametrize("stored", [None, {}, {"paused": "soon"}, [], {"later": 1}])
def test_what_a_later_release_stored_is_no_reason_to_fail(stored: object) -> None:
    live = LiveSettings()
    live.values = {"house": stored}  # type: ignore[dict-item]

    assert not house_of(live)().paused


def test_single_dishes_are_taken_off_and_put_back() -> None:
    service = Service()
    service.live.values = {"house": {"sold_out": ["Grandma's Trifle", "Cannoli"]}}

    service.staff_set(add_sold_out=["tiramisu", "Cannoli"])
    added = service.live.values
    service.staff_set(remove_sold_out=["Grandma's Trifle", "cannoli", "Diavola"])

    assert added["house"]["sold_out"] == ["Grandma's Trifle", "Cannoli", "Tiramisu"]  # type: ignore[index,call-overload]
    assert service.live.values == {"house": {"paused": False, "sold_out": ["Tiramisu"]}}
    for field in ("add_sold_out", "remove_sold_out"):
        with pytest.raises(NotOnMenu):
            service.staff_set(**{field: ["Sushi"]})


class Shelf:
    """A store whose settings a test plays."""

    def __init__(self, *answers: object) -> None:
        self.answers = [*answers]

    async def settings(self) -> Any:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            await asyncio.get_running_loop().create_future()
        return answer


@pytest.mark.parametrize(
    "command", [AddItem(name="Tiramisu", quantity=1), ReadBack(), PlaceOrder()]
)
async def test_what_staff_have_just_set_is_read_before_it_counts(command: Any) -> None:
    service = Service()
    await service.apply(
        AddItem(name="Tiramisu", quantity=1),
        SetFulfilment(kind="pickup"),
        ChoosePayment(method="cash"),
    )
    if isinstance(command, PlaceOrder):
        await service.apply(ReadBack(), ConfirmOrder())
    service.live.read_from(Shelf({"house": {"sold_out": ["Tiramisu"]}}))  # type: ignore[arg-type]

    with pytest.raises(SoldOut):
        await service.apply(command)


@pytest.mark.parametrize("failure", [JournalFault("The database", "it is away"), None])
async def test_while_staffs_settings_cannot_be_read_the_last_known_ones_count(
    failure: Exception | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("agents.app.live.READ_S", 0.01)
    caplog.set_level(logging.INFO)
    service = Service()
    service.live.read_from(Shelf({"house": {"sold_out": ["Tiramisu"]}}, failure, failure))  # type: ignore[arg-type]
    with pytest.raises(SoldOut):
        await service.apply(AddItem(name="Tiramisu", quantity=1))

    with pytest.raises(SoldOut):
        await service.apply(AddItem(name="Tiramisu", quantity=1))
    await service.apply(AddItem(name="Cannoli", quantity=1))

    told = [one.getMessage() for one in caplog.records]
    assert len([one for one in told if one.startswith("live settings not read")]) == 2
