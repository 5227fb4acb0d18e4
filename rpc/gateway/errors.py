"""Error codes and types of the gateway, and the error object that clients receive.

* Rejected            not a valid request; always an ``RpcError``
  * BadJson           4000  not one strict JSON object
  * BadParams         4001  a field is missing, unknown or invalid
  * Forbidden         4003  the caller may not call this
  * UnknownOperation  4005  there is no such operation
  * TooLarge          4013  the payload exceeds the size limit
  * VersionDemanded   4028  the request needs the version the caller has seen
  * RateLimited       4029  too many calls; says how long to wait
  * NotYet            5003  still starting; says how long to wait

Errors of the state (``StateError``) have the codes 4004, 4009, 4010, 4011, 4022, 5000, 5003 and 5004.
"""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self

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
    Unstorable,
)


class ErrorObject(BaseModel):
    """Why a request failed: for programs (``code``, ``type``, ``reason``, ``facts``) and for people (``detail``).

    Args:
        code: The error code; the ``RpcError`` has the same one.
        type: The name of the code.
        reason: The exact reason as an identifier: which rule of the state refused.
        facts: The reason as data.
        detail: An English sentence that says what to do.
        retryable: Whether the same request may succeed later.
        retry_after_ms: How long to wait before a retry, in milliseconds.
        version: The present version of the state, if the caller may see it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: int
    type: str
    reason: str
    facts: Mapping[str, JsonValue] = {}
    detail: str
    retryable: bool = False
    retry_after_ms: int | None = Field(default=None, exclude_if=lambda value: value is None)
    version: int | None = Field(default=None, exclude_if=lambda value: value is None)


class Rejected(Exception):
    """The request is not valid, or the caller may not send it; nothing was done.

    Args:
        detail: An English sentence that says what to do. It never repeats what was sent.
        facts: The reason as data.
    """

    code: ClassVar[int]
    type: ClassVar[str]
    retry_after_ms: int | None = None
    """How long to wait before the same request may succeed, in milliseconds."""

    def __init__(self, detail: str, **facts: JsonValue) -> None:
        super().__init__(detail)
        self.detail = detail
        self.facts: Mapping[str, JsonValue] = facts

    def error_object(self, version: int | None = None) -> ErrorObject:
        """Return the error object for the caller."""
        return ErrorObject(
            code=self.code,
            type=self.type,
            reason=self.type,
            facts=self.facts,
            detail=self.detail,
            retryable=self.retry_after_ms is not None,
            retry_after_ms=self.retry_after_ms,
            version=version,
        )


class BadJson(Rejected):
    """The payload is not one strict JSON object."""

    code, type = 4000, "bad_json"


class BadParams(Rejected):
    """A field is missing, unknown or invalid."""

    code, type = 4001, "invalid_params"


class Forbidden(Rejected):
    """The caller may not do this."""

    code, type = 4003, "forbidden"

    @classmethod
    def unless(cls, roles: Collection[str], verb: str) -> Self:
        """Return the error for a caller with none of these roles.

        >>> Forbidden.unless(["manager"], "do"), Forbidden.unless(["cook", "manager"], "call")
        (Forbidden('Only the role manager can do this.'), Forbidden('Only the roles cook and manager can call this.'))
        """
        noun = "role" if len(roles) == 1 else "roles"
        return cls(f"Only the {noun} {' and '.join(roles)} can {verb} this.")


class UnknownOperation(Rejected):
    """There is no such operation."""

    code, type = 4005, "unknown_operation"


class TooLarge(Rejected):
    """The payload exceeds the size limit."""

    code, type = 4013, "too_large"


class VersionDemanded(Rejected):
    """The request could undo another writer's work and needs the version the caller has seen."""

    code, type = 4028, "precondition_required"


class RateLimited(Rejected):
    """The caller exceeds the rate limit or the limit of concurrent calls."""

    code, type = 4029, "rate_limited"

    def __init__(self, detail: str, *, retry_after_ms: int, **facts: JsonValue) -> None:
        super().__init__(detail, **facts)
        self.retry_after_ms = retry_after_ms


RETRY_MS = 500
"""How long a client should wait before it retries a request that is unavailable, in milliseconds."""


class NotYet(Rejected):
    """The method is still starting up; the same request may succeed in a moment."""

    code, type = 5003, "unavailable"
    retry_after_ms = RETRY_MS


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
"""The code of each ``type`` of state error."""

# Refusals with a type of their own; every other is 4022 with its code as the reason.
_OWN_TYPE = ("not_found", "wrong_stage")


def error_object(error: Exception, version: int | None = None) -> ErrorObject:
    """Convert any error to the error object for a caller; unexpected exceptions become ``internal``.

    Args:
        error: The error.
        version: The present version of the state, if the caller may see it.
    """
    if isinstance(error, Rejected):
        return error.error_object(version)
    if not isinstance(error, StateError):
        # a bug fails again, so a client that repeats what is retryable would never end
        return error_of_type("internal", _INTERNAL, version, retryable=False)
    kind = _type_of(error)
    # The journal's messages may contain paths and are not for clients.
    ours = kind == "unavailable" and not isinstance(error, Busy)
    return error_of_type(
        kind,
        _NOT_NOW if ours else error.message,
        version,
        reason=error.code if kind == "refused" else kind,
        facts={} if ours else dict(error.facts),
        retryable=error.retryable or ours,
        retry_after_ms=RETRY_MS if kind == "unavailable" else None,
    )


_INTERNAL = (
    "Something went wrong inside, and the same request would most likely fail again: do not repeat it."
    " Look at the present state, which says whether it was done."
)
_NOT_NOW = "This could not be stored just now, so nothing was changed. Send the same request again."


def _type_of(error: StateError) -> str:
    match error:
        case Refused():
            return error.code if error.code in _OWN_TYPE else "refused"
        case Unstorable():
            return "refused"
        case Stale() | KeyReused():
            return error.code
        case OutcomeUnknown():
            return "outcome_unknown"
        case Busy() | NotStored() | TakenOver() | JournalFault():
            return "unavailable"
        case _:
            return "internal"


def error_of_type(
    kind: str,
    detail: str,
    version: int | None,
    *,
    retryable: bool,
    reason: str | None = None,
    facts: Mapping[str, Any] | None = None,
    retry_after_ms: int | None = None,
) -> ErrorObject:
    """Return an error object with the code of its type.

    Args:
        kind: Its type, of those in ``STATE_CODES``.
        detail: An English sentence that says what to do.
        version: The present version of the state, if the caller may see it.
        retryable: Whether the same request may succeed later.
        reason: The exact reason; the type without it.
        facts: The reason as data.
        retry_after_ms: How long to wait before a retry, in milliseconds.
    """
    return ErrorObject(
        code=STATE_CODES[kind],
        type=kind,
        reason=reason or kind,
        facts=facts or {},
        detail=detail,
        retryable=retryable,
        retry_after_ms=retry_after_ms,
        version=version,
    )
