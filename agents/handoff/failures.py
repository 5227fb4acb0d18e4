"""Why something a model asked for was not done, in words that are true and give nothing away."""

import logging
from typing import Any

from livekit.agents import APIConnectionError, APIError, APIStatusError, APITimeoutError
from pydantic import ValidationError

from agents.handoff.limits import StillRunning
from agents.handoff.tools import refusal_text
from state.shared import OutcomeUnknown, Refused, Stale, StateError

logger = logging.getLogger(__name__)

NOT_DONE = "Nothing was changed."
NOT_FINISHED = "It was not finished, and something has been changed: look at the present state."
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


class Interrupted(Refused):
    """The guest spoke on before it was decided."""

    code = "interrupted"


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
        if not isinstance(error, Refused | Stale):  # the house's trouble, not the guest's
            logger.warning("%s was not done: %s", tool, message)
    elif isinstance(error, ValidationError):
        message = _what_is_wrong(error)
    elif isinstance(error, StillRunning):
        message = "It took too long and was given up, and has not ended: what it does elsewhere may still happen."
        facts = {"tool": tool}
    elif isinstance(error, TimeoutError):
        message, facts = "It took too long and was given up.", {"tool": tool}
    else:
        logger.error("a tool failed", exc_info=error, extra={"tool": tool})
        message = "Something went wrong inside."
    if isinstance(error, OutcomeUnknown):
        lead = "It may or may not have been done."
    return refusal_text(lead, code_of(error), message, facts)


def _what_is_wrong(error: ValidationError) -> str:
    """Say what is wrong with the arguments without repeating them: they may hold what must not spread."""
    return "; ".join(
        f"{'.'.join(str(step) for step in fault['loc'][-2:]) or 'arguments'}: {fault['msg']}"
        for fault in error.errors(include_input=False, include_url=False, include_context=False)
    )


class ModelFailure(APIConnectionError):
    """A model failed; the message says why, and holds nothing of what was said to it."""


_STATUS = {
    400: "it did not take the request",
    401: "the key was not accepted",
    402: "the account has nothing left to pay with",
    403: "the key may not do this",
    404: "there is no such model or address",
    408: "it did not answer in time",
    413: "the request was too long for it",
    422: "it did not take the request",
    429: "too many requests, or the account has nothing left",
}

_CODES = {
    "context_length_exceeded": "the conversation is too long for it",
    "insufficient_quota": "the account has nothing left to pay with",
    "model_not_found": "there is no such model",
    "rate_limit_exceeded": "too many requests",
}
"""What OpenAI's servers say of themselves, where they tell more than the status does."""


def why_model_failed(error: BaseException) -> str:
    """Say what was wrong with a model, for the log: nothing of what was said to it, and no key.

    What a server answers may repeat the request or the key it was asked with, so of that only the status
    and the codes we know are told.

    >>> why_model_failed(APIStatusError("Incorrect API key: sk-1", status_code=401))
    'the key was not accepted (401)'
    >>> why_model_failed(APITimeoutError())
    'it did not answer in time'
    """
    chain = _causes(error)
    for one in chain:
        if isinstance(one, ModelFailure):
            return one.message
        if isinstance(one, APIStatusError) and one.status_code > 0:
            return f"{_why_refused(one)} ({one.status_code})"
    if any(isinstance(one, TimeoutError | APITimeoutError) for one in chain):
        return "it did not answer in time"
    kind = type(chain[-1]).__name__
    return (
        f"it could not be reached or understood ({kind})" if isinstance(error, APIError) else kind
    )


def _why_refused(error: APIStatusError) -> str:
    code = error.body.get("code") if isinstance(error.body, dict) else None
    if isinstance(code, str) and code in _CODES:
        return _CODES[code]
    at_fault = "it is in trouble itself" if error.status_code >= 500 else "it refused"
    return _STATUS.get(error.status_code, at_fault)


def _causes(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__
    return chain
