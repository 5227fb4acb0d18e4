"""Every answer that is no success: its code, its name, and the one object that tells it.

* Rejected            what is no proper request; always an ``RpcError``
  * BadJson           4000  not one strict JSON object
  * BadParams         4001  a field is missing, unknown or wrong
  * Forbidden         4003  not yours to call
  * UnknownOperation  4005  there is no such operation
  * TooLarge          4013  more bytes than are taken
  * VersionDemanded   4028  say which version you have seen
  * RateLimited       4029  wait; says how long
  * NotYet            5003  what is called is only beginning; says how long to wait

What the state answers (``StateError``) has the codes 4004, 4009, 4010, 4011, 4022, 5000, 5003 and 5004.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from state.shared import (
    Busy,
    JournalFault,
    KeyReused,
    NotStored,
    OutcomeUnknown,
    Refused,
    Stale,
    StateError,
    TakenOver,
)


def _is_none(value: object) -> bool:
    return value is None


class ErrorObject(BaseModel):
    """Why something was not done: what a program reads (``code``, ``type``, ``reason``, ``facts``) and a person (``detail``).

    Args:
        code: The number; an ``RpcError`` of it has the same.
        type: The same in a word.
        reason: What exactly, in a word: which rule of the state said no.
        facts: The same in data.
        detail: An English sentence that says what to do.
        retryable: Whether the same may be asked again with some hope.
        retry_after_ms: How long to wait before that, in milliseconds.
        version: The present version of the state, for whoever may see it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: int
    type: str
    reason: str
    facts: Mapping[str, JsonValue] = {}
    detail: str
    retryable: bool = False
    retry_after_ms: int | None = Field(default=None, exclude_if=_is_none)
    version: int | None = Field(default=None, exclude_if=_is_none)


class Rejected(Exception):
    """What was sent is no proper request, or not from somebody who may send it; nothing was done.

    Args:
        detail: An English sentence that says what to do. It repeats nothing of what was sent.
        facts: The same in data.
    """

    code: ClassVar[int]
    type: ClassVar[str]

    def __init__(self, detail: str, **facts: JsonValue) -> None:
        super().__init__(detail)
        self.detail = detail
        self.facts: Mapping[str, JsonValue] = facts

    def told(self, version: int | None = None) -> ErrorObject:
        """Return it as the caller is told it."""
        return ErrorObject(
            code=self.code,
            type=self.type,
            reason=self.type,
            facts=self.facts,
            detail=self.detail,
            version=version,
        )


class BadJson(Rejected):
    """The payload is not one strict JSON object."""

    code, type = 4000, "bad_json"


class BadParams(Rejected):
    """A field is missing, unknown, or not what it has to be."""

    code, type = 4001, "invalid_params"


class Forbidden(Rejected):
    """The caller may not do this."""

    code, type = 4003, "forbidden"


class UnknownOperation(Rejected):
    """There is no such operation."""

    code, type = 4005, "unknown_operation"


class TooLarge(Rejected):
    """The payload has more bytes than are taken."""

    code, type = 4013, "too_large"


class VersionDemanded(Rejected):
    """This could undo somebody else's work: the caller has to say which version he has seen."""

    code, type = 4028, "precondition_required"


class RateLimited(Rejected):
    """The caller asks more often, or for more at once, than is served."""

    code, type = 4029, "rate_limited"

    def __init__(self, detail: str, *, retry_after_ms: int, **facts: JsonValue) -> None:
        super().__init__(detail, **facts)
        self.retry_after_ms = retry_after_ms

    def told(self, version: int | None = None) -> ErrorObject:
        """Return it as the caller is told it: with how long to wait."""
        told = super().told(version)
        return told.model_copy(update={"retryable": True, "retry_after_ms": self.retry_after_ms})


RETRY_MS = 500
"""How long a client should wait before it asks again what could not be done just now, in milliseconds."""


class NotYet(Rejected):
    """What is called is only beginning: the same may be asked again in a moment."""

    code, type = 5003, "unavailable"

    def told(self, version: int | None = None) -> ErrorObject:
        """Return it as the caller is told it: with how long to wait."""
        return (
            super().told(version).model_copy(update={"retryable": True, "retry_after_ms": RETRY_MS})
        )


STATE_CODES: Mapping[str, int] = {
    "not_found": 4004,
    "version_conflict": 4009,
    "wrong_stage": 4010,
    "key_reused": 4011,
    "refused": 4022,
    "internal": 5000,
    "unavailable": 5003,
    "outcome_unknown": 5004,
}
"""The number of each ``type`` that a state answers with."""

# The codes of a refusal that have a number of their own; every other is 4022 and tells its code as reason.
_OWN_TYPE = ("not_found", "wrong_stage")


def told(error: Exception, version: int | None = None) -> ErrorObject:
    """Return any error as a caller is told it; what is nobody's business is ``internal``.

    Args:
        error: What went wrong.
        version: The present version of the state, where the caller may know it.
    """
    if isinstance(error, Rejected):
        return error.told(version)
    if not isinstance(error, StateError):
        return _object("internal", "internal", _INTERNAL, {}, version, retryable=True)
    kind = _type_of(error)
    # What the journal says of itself, paths in it perhaps, is the house's business.
    ours = isinstance(error, NotStored | JournalFault | TakenOver)
    return _object(
        kind,
        kind if not isinstance(error, Refused) or kind in _OWN_TYPE else error.code,
        _NOT_NOW if ours else error.message,
        {} if ours else dict(error.facts),
        version,
        retryable=error.retryable or ours,
        retry_after_ms=RETRY_MS if kind == "unavailable" else None,
    )


_INTERNAL = "Something went wrong inside. Ask once more with the same key, then look at the state."
_NOT_NOW = "This could not be stored just now, so nothing was changed. Ask again with the same key."


def _type_of(error: StateError) -> str:
    match error:
        case Refused():
            return error.code if error.code in _OWN_TYPE else "refused"
        case Stale() | KeyReused():
            return error.code
        case OutcomeUnknown():
            return "outcome_unknown"
        case Busy() | NotStored() | TakenOver() | JournalFault():
            return "unavailable"
        case _:
            return "internal"


def _object(
    kind: str,
    reason: str,
    detail: str,
    facts: Mapping[str, Any],
    version: int | None,
    *,
    retryable: bool,
    retry_after_ms: int | None = None,
) -> ErrorObject:
    return ErrorObject(
        code=STATE_CODES[kind],
        type=kind,
        reason=reason,
        facts=facts,
        detail=detail,
        retryable=retryable,
        retry_after_ms=retry_after_ms,
        version=version,
    )
