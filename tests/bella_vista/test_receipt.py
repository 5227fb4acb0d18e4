from decimal import Decimal

from agents.app.terminal.summary import Row, as_text
from agents.handoff import Call
from bella_vista.receipt import summary
from state.commands import (
    AddAllergy,
    AddItem,
    ApplyCoupon,
    ChoosePayment,
    SetCustomer,
    SetFulfilment,
    SetTip,
)
from state.context import OrderContext
from state.order import OrderState
from state.view import view
from tests.bella_vista.small_restaurant import restaurant


def receipt(call: Call[OrderState, OrderContext]) -> tuple[Row, ...]:
    return summary(view(call.state, call.shared.version, call.speaker)).rows


def test_an_empty_order_says_so() -> None:
    assert as_text(receipt(restaurant())) == "Nothing ordered yet"


def test_a_receipt_shows_everything_the_guest_asked_for() -> None:
    call = restaurant(
        SetCustomer(name="Ada", phone="+1 212 555 0142"),
        AddAllergy(name="lactose"),
        SetFulfilment(kind="pickup"),
        AddItem(name="Margherita", size="large", quantity=2, modifications=("no basil", "ham")),
        AddItem(name="Tiramisu", note="one spoon each"),
        ApplyCoupon(code="TWOOFF"),
        SetTip(percentage=Decimal(10)),
        ChoosePayment(method="card"),
    )

    text = as_text(receipt(call), 40)

    assert text.splitlines() == [
        "2 x Margherita, large             $31.00",
        "    no basil, ham",
        "    allergy: milk",
        "1 x Tiramisu                       $6.50",
        '    "one spoon each"',
        "    allergy: milk",
        "Subtotal                          $37.50",
        "Coupon TWOOFF                     -$2.00",
        "Tax                                $3.15",
        "Tip, 10 %                          $3.75",
        "Total                             $42.40",
        "Pickup, as soon as possible: Fri 20 Nov",
        "19:20",
        "To be paid by card at handover",
        "For Ada, +12125550142",
        "Allergies: lactose",
    ]


def test_a_refused_order_says_why() -> None:
    seen = view(restaurant().state, 0, None)

    assert (
        Row("Refused: The oven broke.")
        in summary({**seen, "stage": "failed", "ended_reason": "The oven broke."}).rows
    )


def test_every_row_fits_the_width() -> None:
    call = restaurant(
        AddItem(name="Pizza your way", size="large", modifications=("half ham", "pan", "no tomato"))
    )

    assert all(len(line) <= 30 for line in as_text(receipt(call), 30).splitlines())
