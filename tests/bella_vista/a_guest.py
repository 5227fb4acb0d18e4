"""A guest with traces in every store, a similar guest, and a search for the remaining traces."""

from pathlib import Path
from typing import Any

from bella_vista.orders import advance_order
from state.commands import (
    AddAllergy,
    AddItem,
    AddNote,
    CallPerson,
    ChangeItem,
    ChangeNote,
    ChoosePayment,
    ConfirmOrder,
    GiveFeedback,
    OrderCommand,
    PlaceOrder,
    ReadBack,
    RemoveNote,
    SetCustomer,
    SetFulfilment,
    SetTip,
)
from state.shared import Moment, SqlStore
from tests.bella_vista.test_orders import begun
from tests.state.shared.by_hand import by_hand

PHONE, EMAIL = "+12125550199", "Zoe.Oe@example.com"
NAME = "Zoë Özdemir-Ångström 🍕"
LIVED: tuple[OrderCommand, ...] = (
    SetCustomer(name="Zoe Oezdemir"),
    SetCustomer(name=NAME, phone="212 555 0198"),
    SetCustomer(phone="(212) 555-0199"),
    SetCustomer(email="zoe.wrong@example.com"),
    SetCustomer(email=EMAIL),
    AddItem(name="margherita", size="large", quantity=2, note="für Zoë, gut durch"),
    AddItem(name="Water", quantity=1),
    ChangeItem(line_id="L1", note="knusprig bitte"),
    SetFulfilment(kind="delivery", address="7 Perry Street, 10014"),
    SetFulfilment(kind="delivery", address="12 Carmine Street, 10014"),
    AddAllergy(name="walnuts"),
    AddNote(title="bell", content="It says Özdemir\nor call +1 212-555-0199"),
    ChangeNote(note_id="id-1", content="ring twice, then whistle"),
    AddNote(title="dog", content="the dog Waldi is harmless"),
    RemoveNote(note_id="id-2"),
    CallPerson(reason="asks about her grandmother's surprise"),
)
DONE: tuple[OrderCommand, ...] = (
    ReadBack(),
    ConfirmOrder(),
    ChoosePayment(method="card"),
    SetTip(amount=300),
    PlaceOrder(),
    GiveFeedback(rating=4, comment="Waldi loved the crust"),
)
HERS = (
    *("zoe", "zoë", "\\u00eb", "özdemir", "oezdemir", "\\u00d6zdemir", "ångström", "\\u00c5ngstr"),
    *(
        "🍕",
        "\\ud83c",
        "5550199",
        "555-0199",
        "555 0198",
        "555.01.99",
        "example.com",
        "perry",
        "carmine",
        "walnut",
        "waldi",
        "whistle",
    ),
    *("gut durch", "knusprig", "surprise", "crust", "k-212"),
)
"""Pieces of all that, as they stand in files: small, and also as JSON escapes them."""


async def hers(store: SqlStore, *more: OrderCommand) -> str:
    """An order of the guest, talked about; returns its id."""
    order = await begun(store, *LIVED)
    order_id = order.state.order_id
    await order.apply(AddAllergy(name="walnuts"), actor="guest", key="k-212-555-0199")
    for command in more:
        await order.apply(command, actor="payment")
    await store.record(
        order_id,
        Moment(1, "heard", "guest", "I am Zoë Özdemir, 2125550199"),
        Moment(1, "said", "greeter", "Noted: zoe.oe@EXAMPLE.com and 212.555.01.99"),
    )
    return order_id


async def completed(store: SqlStore, office: SqlStore) -> str:
    order_id = await hers(store, *DONE)
    for _ in range(4):
        await advance_order(office, order_id)
    return order_id


async def another(store: SqlStore, *more: OrderCommand) -> str:
    """Somebody else's order, as like hers as it may be."""
    order = await begun(
        store,
        SetCustomer(name="Ann", phone="+442125550199", email="xzoe.oe@example.com"),
        AddItem(name="Cola", quantity=1, note="not +44 212 555 0199"),
        AddNote(title="mail", content="zoe.oe@example.com.au"),
        *more,
    )
    order_id = order.state.order_id
    await store.record(order_id, Moment(1, "heard", "guest", "write to zoe.oe@example.community"))
    return order_id


def rows(database: str, order_id: str | None = None) -> list[Any]:
    """Every row there is, or every row of one order, as the database has it."""
    found: list[Any] = []
    with by_hand(database) as hand:
        for table, order in (("states", "1"), ("entries", "version"), ("moments", "position")):
            where = f" WHERE state_id = '{order_id}'" if order_id else ""
            found += hand(f"SELECT * FROM {table}{where} ORDER BY state_id, {order}")
    return found


def left_of_her(database: str, folder: Path) -> list[str]:
    """The pieces of her that are still to be read, in the rows or in the bytes of any file."""
    seen = repr(rows(database)).lower().replace("\\\\", "\\").encode()
    if database.startswith("sqlite"):
        for file in folder.rglob("*"):
            seen += file.read_bytes().lower()
    return [piece for piece in HERS if piece.lower().encode() in seen]
