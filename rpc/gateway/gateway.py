"""The entry point of every client call, and the order of its checks."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from livekit import rtc

from rpc.gateway import params
from rpc.gateway.answers import ReplyTooLong, reply_text, rpc_error
from rpc.gateway.errors import (
    ErrorObject,
    Forbidden,
    RateLimited,
    TooLarge,
    error_object,
    error_of_type,
)
from rpc.gateway.method import AnyMethod, Caller
from rpc.gateway.mutes import Mutes
from rpc.gateway.rates import Rates
from rpc.gateway.request_log import RequestLog, RequestRecord
from rpc.gateway.start_limiter import StartLimiter
from state.shared import withdrawable_changes

Next = Callable[[rtc.RpcInvocationData], Awaitable[str | None]]
"""The rest of livekit's interceptor chain."""

Work = Callable[[str], Awaitable[str]]
"""Answers an admitted call from this identity."""


STOPPING_S = 0.5
"""How long before the caller's deadline a method is stopped, in seconds, so that they still get our answer."""

STOPPING_SHARE = 0.2
"""The largest share of the caller's time that this may take; livekit gives a method at least a second."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for each caller.

    Args:
        payload_bytes: The largest payload, in bytes of UTF-8.
        reply_bytes: The largest reply in bytes; clients of livekit's first RPC version accept no more.
        at_once: The size of a caller's token bucket, and how many of their calls may run concurrently.
        per_second: How many tokens are refilled each second.
        refusals: How many rate-limited calls a caller may make before they are muted at the server.
        answer_s: The timeout of a method in seconds, unless the caller's is shorter.
    """

    payload_bytes: int = 8_192
    reply_bytes: int = 15_360
    at_once: int = 100
    per_second: float = 20.0
    refusals: int = 100
    answer_s: float = 12.0


class Gateway(rtc.RpcInterceptor):
    """Answers the RPC calls of a room's participants with the given methods and refuses all others.

    Checks run in this order, and the first failure is returned: the caller's role (4003), rate (4029), payload
    size (4013), strict JSON (4000), the request's fields (4001, 4005); then the method runs. A caller without a
    role gets 4003 for every method without ``anybody``, even above the rate limit, and never sees a version.

    Args:
        methods: The methods.
        role_of: Returns the role of an identity, or ``None``.
        is_there: Whether an identity is a visible participant in the room and not an agent.
        version: Returns the present version of the state, if there is one.
        limits: Limits for each caller.
        mutes: Mutes flooding callers at the server; without it, their calls are only refused.
        find: Waits for a caller who is not in the room yet: livekit announces a participant up to three seconds
            late, so their first call may come before. Returns whether they are in the room now.
        clock: The present time in seconds; only differences count.
        sleep: Used to wait.
    """

    def __init__(
        self,
        methods: Sequence[AnyMethod],
        *,
        role_of: Callable[[str], str | None],
        is_there: Callable[[str], bool],
        version: Callable[[], int | None],
        limits: Limits | None = None,
        mutes: Mutes | None = None,
        find: Callable[[str], Awaitable[bool]] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._methods = {method.name: method for method in methods}
        if len(self._methods) != len(methods):
            raise ValueError("two methods have the same name")
        self._role_of = role_of
        self._is_there = is_there
        self._version = version
        self._limits = limits or Limits()
        self._mutes = mutes
        self._find = find
        self._sleep = sleep
        self._start_limiter = StartLimiter()
        self._log = RequestLog()
        self._rates = Rates(
            at_once=self._limits.at_once, per_second=self._limits.per_second, clock=clock
        )

        advice = (
            f"Call {method.name}: it gives you one, or says why not."
            for method in methods
            if method.anybody
        )
        self._no_role = " ".join([_NO_ROLE, *advice])
        self._last_refusal: tuple[tuple[int, int | None], rtc.RpcError] | None = None

    def install(self, participant: rtc.LocalParticipant) -> None:
        """Register the methods and intercept all calls to the agent's participant; its room must be connected."""
        for name in self._methods:
            participant.register_rpc_method(name, self._registered)
        participant.add_rpc_interceptor(self)
        # livekit-agents 1.8.9 installs a tracer when the room is connected, and the first interceptor is outermost:
        # it would record the start of every payload before our checks. There is no public way to go first.
        chain = getattr(participant, "_rpc_interceptors", None)
        if isinstance(chain, list) and self in chain:
            chain.remove(self)
            chain.insert(0, self)

    async def aclose(self) -> None:
        """Unmute all muted callers and flush the request log."""
        self._log.close()
        if self._mutes is not None:
            await self._mutes.aclose()

    async def intercept_incoming(self, invocation: rtc.RpcInvocationData, next: Next) -> str | None:
        """Answer a call, or check a call to a method that other code has registered and pass it on.

        livekit's native side refuses calls to unregistered methods with 1400; no interceptor sees them
        (livekit 1.1.21).
        """
        if invocation.method in self._methods:
            return await self._registered(invocation)
        record = RequestRecord(
            self._log,
            "(not ours)",
            invocation.caller_identity,
            invocation.payload,
            invocation.request_id,
        )

        async def pass_on(identity: str) -> str:
            return await next(invocation) or ""

        return await self._checked(record, pass_on, anybody=False, unregistered=True)

    async def handle(
        self,
        method: str,
        caller_identity: str,
        payload: str,
        response_timeout: float,
        *,
        request_id: str = "",
    ) -> str:
        """Answer a call to one of the methods. Needs no room.

        Args:
            method: The method's name.
            caller_identity: The caller's identity as the server reports it.
            payload: The payload.
            response_timeout: How long the caller waits, in seconds.
            request_id: The request id for the log.

        Raises:
            RpcError: Every result that is not a success.
            KeyError: There is no such method.
        """
        called = self._methods[method]
        record = RequestRecord(self._log, method, caller_identity, payload, request_id)
        limit_s = min(_time_for(response_timeout), self._limits.answer_s)
        until = asyncio.get_running_loop().time() + limit_s

        async def answer(identity: str) -> str:
            return await self._run_method(called, identity, payload, until)

        return await self._checked(record, answer, anybody=called.anybody, roles=called.roles)

    async def _registered(self, invocation: rtc.RpcInvocationData) -> str:
        return await self.handle(
            invocation.method,
            invocation.caller_identity,
            invocation.payload,
            invocation.response_timeout,
            request_id=invocation.request_id,
        )

    async def _checked(
        self,
        record: RequestRecord,
        work: Work,
        *,
        anybody: bool,
        roles: Collection[str] | None = None,
        unregistered: bool = False,
    ) -> str:
        """Check a call, answer it, and convert every exception to an ``RpcError`` for the caller."""
        role: str | None = None
        admitted = False
        try:
            if not record.identity:  # a hidden participant (livekit 1.1.21)
                raise Forbidden(self._no_role)
            role = self._role(record.identity)
            wait_ms = self._rates.take(record.identity)
            admitted = wait_ms is None
            if wait_ms is not None:
                self._mute_if_flooding(record.identity)
                await self._sleep(self._rates.refusal_delay(record.identity))
            if role is None and admitted and self._role_of(record.identity) is not None:
                # A known identity that is not visible: after a lost connection the server announces it later.
                await self._ensure_present(record.identity)
                role = self._role(record.identity)
            if not anybody and role is None:
                raise Forbidden(self._no_role)
            if role is not None and roles is not None and role not in roles:
                raise Forbidden.unless(roles, "call")
            if wait_ms is not None:
                raise self._rate_limited(wait_ms, role)
            if record.bytes_in > self._limits.payload_bytes:
                raise TooLarge(
                    f"Send at most {self._limits.payload_bytes} bytes.",
                    bytes=record.bytes_in,
                    limit=self._limits.payload_bytes,
                )
            await self._start_limiter.wait_to_start(record.identity)
            reply = await work(record.identity)
        except asyncio.CancelledError as cancelled:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                record.ended(rtc.RpcError.ErrorCode.RESPONSE_TIMEOUT)
                raise  # the caller's deadline has passed or the room is gone: livekit answers
            error = self._error_object(cancelled, record, role)
        except rtc.RpcError as raised:
            if unregistered or isinstance(raised, _PreparedError):
                record.ended(raised.code)
                raise
            error = self._error_object(raised, record, role)
        except Exception as raised:  # no exception reaches a caller unconverted
            error = self._error_object(raised, record, role)
        else:
            record.ended(0, len(reply.encode()))
            return reply
        finally:
            if admitted:
                self._rates.done(record.identity)
        fault = rpc_error(error)
        record.ended(error.code, len((fault.data or "").encode()))
        raise fault

    async def _run_method(
        self, method: AnyMethod, identity: str, payload: str, until: float
    ) -> str:
        deadline = asyncio.timeout_at(until)
        try:
            async with deadline:
                if not await self._ensure_present(identity):
                    raise Forbidden(self._no_role)
                caller = Caller(identity, self._role(identity))
                request = params.request(method.request, payload)
                with withdrawable_changes():  # at the deadline the caller has to get an answer
                    reply = await method.answer(request, caller)
        except TimeoutError:
            if deadline.expired():
                raise _TimedOut from None
            raise
        return reply_text(reply, self._limits.reply_bytes)

    def _role(self, identity: str) -> str | None:
        """Return the role of a caller in the room; agents and identities outside the room have none."""
        return self._role_of(identity) if self._is_there(identity) else None

    async def _ensure_present(self, identity: str) -> bool:
        if self._is_there(identity):
            return True
        return self._find is not None and await self._find(identity) and self._is_there(identity)

    def _mute_if_flooding(self, identity: str) -> None:
        if self._mutes is not None and self._rates.refused(identity) > self._limits.refusals:
            self._mutes.mute(identity, lambda: self._rates.reset_refusals(identity))

    def _rate_limited(self, wait_ms: int, role: str | None) -> "_PreparedError":
        """Return the rate-limit error; serialized once for all identical ones, since a flood gets thousands."""
        version = self._version() if role is not None else None
        if self._last_refusal is None or self._last_refusal[0] != (wait_ms, version):
            error = rpc_error(
                RateLimited(_RATE_LIMITED, retry_after_ms=wait_ms).error_object(version)
            )
            self._last_refusal = ((wait_ms, version), error)
        error = self._last_refusal[1]
        return _PreparedError(error.code, error.message, error.data)

    def _error_object(
        self, error: BaseException, record: RequestRecord, role: str | None
    ) -> ErrorObject:
        version = self._version() if role is not None else None
        if isinstance(error, _TimedOut):
            return error_of_type(
                "outcome_unknown", _TIMED_OUT, version, reason="deadline", retryable=True
            )
        if isinstance(error, ReplyTooLong):
            record.failed("reply too long")
            return error_of_type(
                "internal", _REPLY_TOO_LONG, version, reason="reply_too_long", retryable=False
            )
        known = error if isinstance(error, Exception) else RuntimeError()
        fault = error_object(known, version)
        if fault.type == "internal":
            record.failed("method failed", error)
        return fault


def _time_for(response_timeout: float) -> float:
    """Return how long a method may take, in seconds, so that livekit does not answer 1502 before it is stopped."""
    return response_timeout - min(STOPPING_S, STOPPING_SHARE * response_timeout)


class _PreparedError(rtc.RpcError):
    """An error that is sent to the caller as it is."""


class _TimedOut(Exception):
    """A method exceeded its timeout."""


_NO_ROLE = "You have no role in this room."
_RATE_LIMITED = "You call too often. Wait as long as retry_after_ms says, then go on more slowly."
_TIMED_OUT = (
    "This took too long, and it is not known whether it was done."
    " Look at the present state, or send the same request again with its idempotency key."
)
_REPLY_TOO_LONG = "The answer is longer than can be sent. Ask for less at once."
