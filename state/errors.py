"""The refusals of the order's rules. Agents and pages build their sentences from code and facts.

* OrderError
  * NotOnMenu          ask for something else; facts: words, near
  * Ambiguous          ask which; facts: words, possible
  * SoldOut            offer something near; facts: name, near
  * NotServed          say when it is served; facts: name, when, served
  * ChoiceMissing      ask for it; facts: name, group, possible; of a combo's parts also count, open
  * ChoiceNotPossible  say what is possible; facts: name, words, possible; group where it is known
  * OverLimit          a member of staff has to help; facts: what, limit, asked
      what: quantity (name), lines, total, order; and tip (limit_amount), which needs no person
  * CouponNotValid     say why; facts: code, why
      why: unknown, expired (until), not_combinable (there)
  * NotValid           ask for it again; facts: field, why
      field: phone, email, when, ready_at, quantity (id, name, possible)
  * NotPossible        say what is possible; facts: what, why, possible
      why: not_offered, outside_area (postcodes), below_minimum (minimum, short), closed, too_soon
  * Missing            ask for what is needed, or do it, first; facts: needs, stage
      needs as in ``stages.needs``, and postcode (address, possible)
  * WrongStage         say how far the order is; facts: stage, needs, possible
  * NotFound           ask which of the existing ones; facts: kind, id, possible
"""

from state.shared.errors import Refused


class OrderError(Refused):
    """The order's rules do not allow it."""


class NotOnMenu(OrderError):
    """Nothing on the menu matches the words."""

    code = "not_on_menu"


class Ambiguous(OrderError):
    """The words match more than one item."""

    code = "ambiguous"


class SoldOut(OrderError):
    """The item is sold out."""

    code = "sold_out"


class NotServed(OrderError):
    """The item is not served at the time the order is for."""

    code = "not_served_now"


class ChoiceMissing(OrderError):
    """A size or another choice is still needed."""

    code = "choice_missing"


class ChoiceNotPossible(OrderError):
    """The dish does not allow this choice."""

    code = "choice_not_possible"


class OverLimit(OrderError):
    """The order exceeds a limit of the restaurant; a member of staff has to agree."""

    code = "over_limit"


class CouponNotValid(OrderError):
    """The coupon is unknown, has expired, or cannot be combined with the present ones."""

    code = "coupon_not_valid"


class NotValid(OrderError):
    """The value is not valid, such as a telephone number, a time or a rating."""

    code = "not_valid"


class NotPossible(OrderError):
    """The restaurant does not offer this: a kind of fulfilment, a payment method, delivery to an address."""

    code = "not_possible"


class Missing(OrderError):
    """Other data or another step is needed first."""

    code = "missing"

    @property
    def reason(self) -> str:
        """The data or steps that are needed first."""
        return str(self.facts.get("needs", self.code))


class WrongStage(OrderError):
    """The order is not in a stage that allows this."""

    code = "wrong_stage"


class NotFound(OrderError):
    """The order has no such line, note, coupon or allergy."""

    code = "not_found"
