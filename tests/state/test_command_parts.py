"""Which parts of the order a command's writer must have seen as they are."""

from state.commands import (
    GUEST_COMMANDS,
    STAFF_COMMANDS,
    AcceptOrder,
    AddAllergy,
    AddItem,
    AddNote,
    ApplyCoupon,
    CallPerson,
    CancelOrder,
    ChangeItem,
    ChangeNote,
    ChoosePayment,
    CompleteOrder,
    ConfirmOrder,
    GiveFeedback,
    MarkAnswered,
    MarkReady,
    OrderCommand,
    PlaceOrder,
    ReadBack,
    RefuseOrder,
    RemoveAllergy,
    RemoveCoupon,
    RemoveItem,
    RemoveNote,
    ReopenOrder,
    SetCustomer,
    SetFulfilment,
    SetTip,
    StartPreparing,
)
from tests.state.bistro import Bistro

RELIES_ON: tuple[tuple[OrderCommand, tuple[str, ...]], ...] = (
    (AddItem(name="Water"), ()),
    (ChangeItem(line_id=" l1 ", quantity=2), ("lines/L1",)),
    (RemoveItem(line_id="L1"), ("lines/L1",)),
    (SetCustomer(name="Ada"), ("customer",)),
    (AddAllergy(name="nuts"), ()),
    (RemoveAllergy(name="nuts"), ()),
    (AddNote(title="Bell", content="It is broken."), ()),
    (ChangeNote(note_id="id-1", title="Door"), ("notes/id-1",)),
    (RemoveNote(note_id="id-1"), ("notes/id-1",)),
    (SetFulfilment(kind="pickup"), ("fulfilment",)),
    (ApplyCoupon(code="FIVE"), ()),
    (RemoveCoupon(code="t-e n"), ("coupons/TEN",)),
    (SetTip(amount=1), ("tip",)),
    (ChoosePayment(method="cash"), ("payment",)),
    (ReadBack(), ("lines", "fulfilment", "coupons")),
    (ConfirmOrder(), ("lines", "fulfilment", "coupons", "stage")),
    (PlaceOrder(), ("lines", "fulfilment", "coupons", "tip")),
    (ReopenOrder(), ("stage",)),
    (CancelOrder(), ("lines", "fulfilment", "stage")),
    (GiveFeedback(rating=5), ("feedback",)),
    (GiveFeedback(comment="Good."), ()),
    (CallPerson(reason="He asks for one."), ()),
    (AcceptOrder(), ("stage",)),
    (StartPreparing(), ("stage",)),
    (MarkReady(), ("stage",)),
    (CompleteOrder(), ("stage",)),
    (RefuseOrder(reason="No oven."), ("stage",)),
    (MarkAnswered(), ("person",)),
)


def test_a_command_relies_on_what_it_could_undo_or_seals() -> None:
    order = Bistro().order(
        AddItem(name="Cola"), AddNote(title="Bell", content="Ring."), ApplyCoupon(code="TEN")
    )

    assert tuple((command, command.touches(order)) for command, _ in RELIES_ON) == RELIES_ON
    assert {type(command) for command, _ in RELIES_ON} == GUEST_COMMANDS | STAFF_COMMANDS


def test_a_command_changed_exactly_what_came_out_different() -> None:
    bistro = Bistro()
    before = bistro.order(
        AddNote(title="Bell", content="Ring."),
        AddNote(title="Dog", content="It barks."),
        AddItem(name="Cola"),
        AddItem(name="Water"),
        CallPerson(reason="He asks for one."),
    )

    def changed(command: OrderCommand) -> tuple[str, ...]:
        return command.changes(before, bistro.after(before, command))

    assert changed(ChangeNote(note_id="id-2", title="Cat")) == ("notes/id-2",)
    assert changed(RemoveNote(note_id="id-1")) == ("notes/id-1",)
    assert changed(ChangeItem(line_id="L2", quantity=2)) == ("lines/L2",)
    assert changed(RemoveItem(line_id="L1")) == ("lines/L1",)
    assert changed(CallPerson(reason="He waits for one.")) == ("person",)
    assert changed(CallPerson(reason="He asks for one.")) == ()
    assert changed(MarkAnswered()) == ("person",)
