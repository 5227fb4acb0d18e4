"""Failures of tools and models: refusal codes, texts for the model, reasons for the log."""

import json
import logging
from typing import Any

from livekit.agents import APIConnectionError, APIError, APIStatusError, APITimeoutError
from pydantic import ValidationError

from agents.handoff.time_limits import StillRunning
from state.shared import OutcomeUnknown, Refused, Stale, StateError

logger = logging.getLogger(__name__)

NOT_DONE = "Nothing was changed."
NOT_FINISHED = "It was not finished, and something has been changed: look at the present state."
NOT_HANDED_OVER = "Not handed over."


class NotAnswered(Refused):
    """The user has to be told a result, and to answer, before this command."""

    code = "not_answered"


class HandoffTaken(Refused):
    """Another handoff is pending."""

    code = "already_handing_over"


class NoWayBack(Refused):
    """No agent has handed the user over to the agent that would hand them back."""

    code = "no_way_back"


class CallEnding(Refused):
    """The call is about to end."""

    code = "call_ending"


class SiblingFailed(Refused):
    """Another tool call of the same reply failed."""

    code = "sibling_failed"


class Interrupted(Refused):
    """The user interrupted before the handoff was decided."""

    code = "interrupted"


class TooManyHandoffs(Refused):
    """The limit of handoffs per turn has been reached."""

    code = "too_many_handoffs"


def code_of(error: BaseException) -> str:
    """Return the code of an error."""
    if isinstance(error, StateError):
        return error.code
    if isinstance(error, ValidationError):
        return "not_valid"
    return "timeout" if isinstance(error, TimeoutError) else "internal"


def failure_text(error: BaseException, lead: str, tool: str) -> str:
    """Return what a model is told about a failed tool call; internal details are only logged."""
    facts: dict[str, Any] = {}
    if isinstance(error, StateError):
        message, facts = error.message, dict(error.facts)
        if not isinstance(error, Refused | Stale):  # an internal fault, not a refusal
            logger.warning("tool %s failed: %s", tool, message)
    elif isinstance(error, ValidationError):
        message = _validation_message(error)
    elif isinstance(error, StillRunning):
        message = "It took too long and was given up, and has not ended: what it does elsewhere may still happen."
        facts = {"tool": tool}
    elif isinstance(error, TimeoutError):
        message, facts = "It took too long and was given up.", {"tool": tool}
    else:
        logger.error("tool raised an exception", exc_info=error, extra={"tool": tool})
        message = "Something went wrong inside."
    if isinstance(error, OutcomeUnknown):
        lead = "It may or may not have been done."
    return refusal_text(lead, code_of(error), message, facts)


def refusal_text(lead: str, code: str, message: str, facts: dict[str, Any]) -> str:
    """Tell a model why a call was refused: a sentence, a code and the facts, in one line.

    >>> refusal_text("Nothing was changed.", "sold_out", "No lemonade today.", {"name": "Lemonade"})
    'Nothing was changed. sold_out: No lemonade today. {"name": "Lemonade"}'
    """
    tail = ""
    if facts:
        try:
            tail = f" {json.dumps(facts, ensure_ascii=False, default=str)}"
        except Exception:  # `str` of an application's value may raise anything: go on without facts
            logger.exception("facts of a refusal are not JSON serializable")
    return f"{lead} {code}: {message}{tail}"


def _validation_message(error: ValidationError) -> str:
    """Describe a validation error without the arguments' values, which may be sensitive."""
    return "; ".join(
        f"{'.'.join(str(step) for step in fault['loc'][-2:]) or 'arguments'}: {fault['msg']}"
        for fault in error.errors(include_input=False, include_url=False, include_context=False)
    )


class ModelFailure(APIConnectionError):
    """A model failed; the message says why and contains nothing of the conversation."""


_STATUS = {
    400: "it rejected the request",
    401: "the key was not accepted",
    402: "the account is out of credit",
    403: "the key may not do this",
    404: "there is no such model or address",
    408: "it did not answer in time",
    413: "the request was too long",
    422: "it rejected the request",
    429: "rate limit exceeded, or the account is out of credit",
}

_CODES = {
    "context_length_exceeded": "the conversation is too long for the model",
    "insufficient_quota": "the account is out of credit",
    "model_not_found": "there is no such model",
    "rate_limit_exceeded": "rate limit exceeded",
}
"""Error codes of OpenAI-compatible servers that say more than the HTTP status."""


def why_model_failed(error: BaseException) -> str:
    """Say why a model failed, for the log, without the conversation or the key.

    A server's error may repeat the request or the key, so only the status and known codes are used.

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
        f"connection failed or invalid response ({kind})" if isinstance(error, APIError) else kind
    )


def _why_refused(error: APIStatusError) -> str:
    code = error.body.get("code") if isinstance(error.body, dict) else None
    if isinstance(code, str) and code in _CODES:
        return _CODES[code]
    at_fault = "server error" if error.status_code >= 500 else "it rejected the request"
    return _STATUS.get(error.status_code, at_fault)


def _causes(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__
    return chain
