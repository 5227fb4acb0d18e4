"""Everything the order can refuse. Agents and pages make their sentences from code and facts.

* OrderError
  * NotOnMenu          ask for something else; facts: words, near
  * Ambiguous          ask which; facts: words, possible
  * SoldOut            offer something near; facts: name, near
  * NotServed          say when it is served; facts: name, when, served
  * ChoiceMissing      ask for it; facts: name, group, possible; of a combo's parts also count, open
  * ChoiceNotPossible  say what is possible; facts: name, words, possible; group where it is known
  * OverLimit          a person is called; facts: what, limit, asked
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
  * NotFound           ask which of those that there are; facts: kind, id, possible
"""

from state.shared.errors import Refused


class OrderError(Refused):
    """The order's rules do not allow it."""


class NotOnMenu(OrderError):
    """Nothing on the menu answers to these words."""

    code = "not_on_menu"


class Ambiguous(OrderError):
    """The words fit more than one thing."""

    code = "ambiguous"


class SoldOut(OrderError):
    """The kitchen is out of it."""

    code = "sold_out"


class NotServed(OrderError):
    """It is not served at the time the order is for."""

    code = "not_served_now"


class ChoiceMissing(OrderError):
    """A size or a choice has to be named first."""

    code = "choice_missing"


class ChoiceNotPossible(OrderError):
    """The dish cannot be had that way."""

    code = "choice_not_possible"


class OverLimit(OrderError):
    """More than the restaurant takes unless a person agrees."""

    code = "over_limit"


class CouponNotValid(OrderError):
    """The coupon is unknown, has run out, or does not fit this order."""

    code = "coupon_not_valid"


class NotValid(OrderError):
    """The value is not one of its kind: a telephone number, a time, a rating."""

    code = "not_valid"


class NotPossible(OrderError):
    """The restaurant does not offer this: a kind of fulfilment, a payment method, an address too far."""

    code = "not_possible"


class Missing(OrderError):
    """Something has to be known or done first."""

    code = "missing"

    @property
    def reason(self) -> str:
        """What it is that has to be known or done."""
        return str(self.facts.get("needs", self.code))


class WrongStage(OrderError):
    """The order is not in a stage that allows this."""

    code = "wrong_stage"


class NotFound(OrderError):
    """There is no such line, note or coupon on the order."""

    code = "not_found"
