"""Why something a model asked for was not done, in words that are true and give nothing away."""

import logging
from typing import Any

from pydantic import ValidationError

from agents.handoff.tools import refusal_text
from state.shared import Refused, StateError

logger = logging.getLogger(__name__)

NOT_DONE = "Nothing was changed."
NOT_HANDED_OVER = "Not handed over."


class NotAnswered(Refused):
    """The guest has to be told something, and to answer, before this."""

    code = "not_answered"


class HandoffTaken(Refused):
    """Another handoff of the guest is under way."""

    code = "already_handing_over"


class CallEnding(Refused):
    """The call is about to end."""

    code = "call_ending"


class SiblingFailed(Refused):
    """Something else in the same reply was not done."""

    code = "sibling_failed"


class TooManyHandoffs(Refused):
    """The guest has been handed around enough."""

    code = "too_many_handoffs"


def code_of(error: BaseException) -> str:
    """Return the code of what went wrong."""
    if isinstance(error, StateError):
        return error.code
    if isinstance(error, ValidationError):
        return "not_valid"
    return "timeout" if isinstance(error, TimeoutError) else "internal"


def failure_text(error: BaseException, lead: str, tool: str) -> str:
    """Tell a model why its call was not carried out; what is nobody's business goes to the log."""
    facts: dict[str, Any] = {}
    if isinstance(error, StateError):
        message, facts = error.message, dict(error.facts)
    elif isinstance(error, ValidationError):
        message = _what_is_wrong(error)
    elif isinstance(error, TimeoutError):
        message, facts = "It took too long and was given up.", {"tool": tool}
    else:
        logger.error("a tool failed", exc_info=error, extra={"tool": tool})
        message = "Something went wrong inside."
    return refusal_text(lead, code_of(error), message, facts)


def _what_is_wrong(error: ValidationError) -> str:
    """Say what is wrong with the arguments without repeating them: they may hold what must not spread."""
    return "; ".join(
        f"{'.'.join(str(step) for step in fault['loc'][-2:]) or 'arguments'}: {fault['msg']}"
        for fault in error.errors(include_input=False, include_url=False, include_context=False)
    )
