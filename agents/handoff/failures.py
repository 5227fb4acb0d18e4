"""How tools, hooks and models fail: timeouts, refusals, texts for the model, reasons for the log."""

import asyncio
import contextlib
import json
import logging
import re
import weakref
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from livekit.agents import APIConnectionError, APIError, APIStatusError, APITimeoutError
from pydantic import ValidationError

from state.shared import Basis, Misuse, OutcomeUnknown, Refused, Stale, StateError, explained

logger = logging.getLogger(__name__)

T = TypeVar("T")

CANCEL_GRACE_S = 0.5
"""How long cancelled work may take to clean up, in seconds."""

_POLL_S = 0.05
"""How often a pending change is polled for its end, in seconds."""


class Abandoned(StateError):
    """Abandoned work tried to change the state."""

    code = "given_up"

    def __init__(self) -> None:
        super().__init__("This was given up before. Nothing was changed.")


class StillRunning(TimeoutError):
    """Work was abandoned and ignores cancellation: its side effects may still happen."""


class BaseExceptionRaised(Exception):
    """Work raised a ``BaseException`` such as ``SystemExit``, which must not end the process."""


class InvalidData(Exception):
    """Application code gave a pydantic model invalid data. The message has none of its values."""


class IdleTimeout:
    """A timeout that restarts: an async context manager with a single timer.

    One ``asyncio.timeout`` per chunk of a reply would cost more than everything else done with it.

    Args:
        limit: The timeout object to expire; it has no deadline of its own.
        seconds: The timeout.

    Raises:
        TimeoutError: On exit: the timeout has expired, or the call has been hung up.
    """

    def __init__(self, limit: asyncio.Timeout, seconds: float) -> None:
        self._limit = limit
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._since: float | None = None

    async def __aenter__(self) -> Self:
        """Start the timer."""
        await self._limit.__aenter__()
        self.start()
        self._timer = self._loop.call_later(self._seconds, self._check)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the timer."""
        self._timer.cancel()
        await self._limit.__aexit__(kind, error, trace)

    def start(self) -> None:
        """Start counting."""
        self._since = self._loop.time()

    def stop(self) -> None:
        """Stop counting while a chunk is processed."""
        self._since = None

    def _check(self) -> None:
        now = self._loop.time()
        until = (now if self._since is None else self._since) + self._seconds
        if until > now:
            self._timer = self._loop.call_at(until, self._check)
        elif not self._limit.expired():
            self._limit.reschedule(now)


class TimeLimits:
    """The timeouts running in one call."""

    def __init__(self) -> None:
        self.hung_up = False
        self._running: weakref.WeakSet[asyncio.Timeout] = weakref.WeakSet()

    def timeout(self, seconds: float | None) -> asyncio.Timeout:
        """Return an ``asyncio.timeout`` that also expires when the call is hung up.

        Args:
            seconds: How long; ``None`` for no limit but the hang-up.

        Raises:
            TimeoutError: On exit: the timeout has expired, or the call has been hung up.
        """
        limit = asyncio.timeout(0 if self.hung_up else seconds)
        self._running.add(limit)
        return limit

    def idle_timeout(self, seconds: float) -> IdleTimeout:
        """Limit how long a stream may be silent, however long it takes in all."""
        return IdleTimeout(self.timeout(None), seconds)

    async def run_with_timeout(
        self, work: Coroutine[Any, Any, T], seconds: float, basis: Basis | None = None
    ) -> T:
        """Run application code with a timeout; abandon it if it ignores cancellation.

        Time spent waiting for its state changes is not counted. Abandoned work can no longer change
        the state.

        Args:
            work: The coroutine.
            seconds: The timeout.
            basis: The basis of its changes; without one no version is checked.

        Raises:
            TimeoutError: The timeout has expired, or the call has been hung up.
            StillRunning: The same, and the work ignores cancellation.
            BaseExceptionRaised: It raised a ``BaseException`` that is no ``Exception``.
            InvalidData: It raised a ``ValidationError``, which is not the model's fault: its
                arguments have been validated before.
        """
        basis = basis or Basis(None, None)
        with basis:
            task = asyncio.ensure_future(_wrap_exceptions(work))
        try:
            async with self.timeout(None):
                await _wait_within(task, seconds, basis)
        except (TimeoutError, asyncio.CancelledError) as error:
            try:
                await _cancel(task, basis)
            finally:  # also when this is cancelled again
                if not task.done():
                    logger.warning("tool or hook ignores cancellation, abandoned")
                    basis.give_up(Abandoned())
                    task.add_done_callback(_log_late_failure)
            if not task.done() and isinstance(error, TimeoutError):
                raise StillRunning from None
            if not task.done() or task.cancelled():
                raise
        finally:
            if task.done():
                basis.end()
        return task.result()

    def hang_up(self) -> None:
        """Expire every timeout, now and from now on."""
        self.hung_up = True
        for limit in tuple(self._running):
            with contextlib.suppress(RuntimeError):  # it has already ended
                limit.reschedule(0)


async def _wait_within(task: "asyncio.Task[Any]", seconds: float, basis: Basis) -> None:
    """Wait for work; raise ``TimeoutError`` once its time is up and no change is being written."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    while not task.done():
        left = seconds - (loop.time() - began - basis.waited_s)
        if left <= 0 and not basis.writing:
            raise TimeoutError
        await asyncio.wait((task,), timeout=max(left, _POLL_S))


async def _cancel(task: "asyncio.Task[Any]", basis: Basis) -> None:
    """Cancel work, and wait while it cleans up or a change of it is being written."""
    if not task.done():
        task.cancel()
        await asyncio.wait((task,), timeout=CANCEL_GRACE_S)
    while not task.done() and basis.writing:
        await asyncio.wait((task,), timeout=CANCEL_GRACE_S)


async def _wrap_exceptions(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    except ValidationError as error:
        raise invalid_data(error) from None
    except (Exception, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # ``sys.exit`` in a tool must not end the process
        raise BaseExceptionRaised(type(error).__name__) from error


def invalid_data(error: ValidationError) -> InvalidData:
    """Return a validation error without the values that were validated."""
    places = ", ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'the whole'} ({fault['type']})"
        for fault in error.errors(include_input=False, include_context=False, include_url=False)
    )
    return InvalidData(f"{error.title}: {places}").with_traceback(error.__traceback__)


def _log_late_failure(task: "asyncio.Future[Any]") -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.warning("abandoned tool or hook failed")


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
    """Tell a model why a tool call failed; internal details are only logged.

    >>> failure_text(Refused("No lemonade today.", name="Lemonade"), NOT_DONE, "add_item")
    'Nothing was changed. refused: No lemonade today. {"name": "Lemonade"}'
    """
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
    elif isinstance(error, Misuse):
        logger.error("tool %s failed: %s", tool, error)
        message = "Something went wrong inside."
    else:
        logger.error("tool %s raised an exception", tool, exc_info=error)
        message = "Something went wrong inside."
    if isinstance(error, OutcomeUnknown):
        lead = "It may or may not have been done."
    tail = ""
    if facts:
        try:
            tail = f" {json.dumps(facts, ensure_ascii=False, default=str)}"
        except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
            raise
        except (
            BaseException
        ):  # `str` of an application's value may raise anything, `SystemExit` too
            logger.exception("facts of a refusal are not JSON serializable")
    return f"{lead} {code_of(error)}: {message}{tail}"


def _validation_message(error: ValidationError) -> str:
    """Describe a validation error without the arguments' values, which may be sensitive."""
    return "; ".join(
        f"{'.'.join(str(step) for step in fault['loc'][-2:]) or 'arguments'}: {explained(fault)}"
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


_STATUS_IN_TEXT = re.compile(r"'status_code': (\d{3})\b")
"""livekit's plugin for Cartesia (1.8.9) has the status of a refusal only in the text of its error."""


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status with which a model was refused, if it was.

    >>> status_of(APIError("Cartesia returned error: {'error': 'x', 'status_code': 404}"))
    404
    """
    for one in _causes(error):
        if isinstance(one, APIStatusError) and one.status_code > 0:
            return one.status_code
        if isinstance(one, APIError) and (found := _STATUS_IN_TEXT.search(one.message)):
            return int(found[1])
    return None


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
    if (status := status_of(error)) is not None:
        return f"{_why_status(status)} ({status})"
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
    return _why_status(error.status_code)


def _why_status(status: int) -> str:
    at_fault = "server error" if status >= 500 else "it rejected the request"
    return _STATUS.get(status, at_fault)


def _causes(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__
    return chain
