"""The order of a restaurant and its rules: pure functions, without a conversation.

Names are imported on first access, so that importing ``state.shared`` loads no restaurant module.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from state.commands import GUEST_COMMANDS as GUEST_COMMANDS
    from state.commands import ORDER_COMMANDS as ORDER_COMMANDS
    from state.commands import STAFF_COMMANDS as STAFF_COMMANDS
    from state.commands import AcceptOrder as AcceptOrder
    from state.commands import AddAllergy as AddAllergy
    from state.commands import AddItem as AddItem
    from state.commands import AddNote as AddNote
    from state.commands import ApplyCoupon as ApplyCoupon
    from state.commands import CallPerson as CallPerson
    from state.commands import CancelOrder as CancelOrder
    from state.commands import ChangeItem as ChangeItem
    from state.commands import ChangeNote as ChangeNote
    from state.commands import ChoosePayment as ChoosePayment
    from state.commands import CompleteOrder as CompleteOrder
    from state.commands import ConfirmOrder as ConfirmOrder
    from state.commands import GiveFeedback as GiveFeedback
    from state.commands import GuestCommand as GuestCommand
    from state.commands import MarkReady as MarkReady
    from state.commands import OrderCommand as OrderCommand
    from state.commands import Part as Part
    from state.commands import PlaceOrder as PlaceOrder
    from state.commands import ReadBack as ReadBack
    from state.commands import RefuseOrder as RefuseOrder
    from state.commands import RemoveCoupon as RemoveCoupon
    from state.commands import RemoveItem as RemoveItem
    from state.commands import RemoveNote as RemoveNote
    from state.commands import ReopenOrder as ReopenOrder
    from state.commands import Reprice as Reprice
    from state.commands import SetCustomer as SetCustomer
    from state.commands import SetFulfilment as SetFulfilment
    from state.commands import SetTip as SetTip
    from state.commands import StaffCommand as StaffCommand
    from state.commands import StartPreparing as StartPreparing
    from state.context import OrderContext as OrderContext
    from state.errors import Ambiguous as Ambiguous
    from state.errors import ChoiceMissing as ChoiceMissing
    from state.errors import ChoiceNotPossible as ChoiceNotPossible
    from state.errors import CouponNotValid as CouponNotValid
    from state.errors import Missing as Missing
    from state.errors import NotFound as NotFound
    from state.errors import NotOnMenu as NotOnMenu
    from state.errors import NotPossible as NotPossible
    from state.errors import NotServed as NotServed
    from state.errors import NotValid as NotValid
    from state.errors import OrderError as OrderError
    from state.errors import OverLimit as OverLimit
    from state.errors import SoldOut as SoldOut
    from state.errors import WrongStage as WrongStage
    from state.menu import Menu as Menu
    from state.menu import load_menu as load_menu
    from state.menu import read_menu as read_menu
    from state.money import Cents as Cents
    from state.money import shown as shown
    from state.money import spoken as spoken
    from state.opening import open_order as open_order
    from state.order import Channel as Channel
    from state.order import Fulfilment as Fulfilment
    from state.order import Note as Note
    from state.order import OrderLine as OrderLine
    from state.order import OrderState as OrderState
    from state.order import Stage as Stage
    from state.pricing import Bill as Bill
    from state.pricing import Charge as Charge
    from state.pricing import price as price
    from state.privacy.redaction import redact as redact
    from state.stages import needs as needs
    from state.view import summary as summary

_HOMES: dict[str, tuple[str, ...]] = {
    "state.commands": (
        "AcceptOrder",
        "AddAllergy",
        "AddItem",
        "AddNote",
        "ApplyCoupon",
        "CallPerson",
        "CancelOrder",
        "ChangeItem",
        "ChangeNote",
        "ChoosePayment",
        "CompleteOrder",
        "ConfirmOrder",
        "GUEST_COMMANDS",
        "GiveFeedback",
        "GuestCommand",
        "MarkReady",
        "ORDER_COMMANDS",
        "OrderCommand",
        "Part",
        "PlaceOrder",
        "ReadBack",
        "RefuseOrder",
        "RemoveCoupon",
        "RemoveItem",
        "RemoveNote",
        "ReopenOrder",
        "Reprice",
        "STAFF_COMMANDS",
        "SetCustomer",
        "SetFulfilment",
        "SetTip",
        "StaffCommand",
        "StartPreparing",
    ),
    "state.context": ("OrderContext",),
    "state.errors": (
        "Ambiguous",
        "ChoiceMissing",
        "ChoiceNotPossible",
        "CouponNotValid",
        "Missing",
        "NotFound",
        "NotOnMenu",
        "NotPossible",
        "NotServed",
        "NotValid",
        "OrderError",
        "OverLimit",
        "SoldOut",
        "WrongStage",
    ),
    "state.menu": (
        "Menu",
        "load_menu",
        "read_menu",
    ),
    "state.money": (
        "Cents",
        "shown",
        "spoken",
    ),
    "state.opening": ("open_order",),
    "state.order": (
        "Channel",
        "Fulfilment",
        "Note",
        "OrderLine",
        "OrderState",
        "Stage",
    ),
    "state.pricing": (
        "Bill",
        "Charge",
        "price",
    ),
    "state.privacy.redaction": ("redact",),
    "state.stages": ("needs",),
    "state.view": ("summary",),
}
"""The public names of this package, by the module that defines them."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


if not TYPE_CHECKING:  # otherwise a type checker would accept every name

    def __getattr__(name: str) -> object:
        home = _HOME_OF.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(home), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
