"""Where every call from a client comes in, and in which order it is looked at."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from livekit import rtc

from rpc.gateway import params
from rpc.gateway.answers import ReplyTooLong, reply_text, rpc_error
from rpc.gateway.errors import ErrorObject, Forbidden, RateLimited, TooLarge, told
from rpc.gateway.method import AnyMethod, Caller
from rpc.gateway.mutes import Mutes
from rpc.gateway.rates import Rates
from rpc.gateway.record import CallLog, CallRecord
from rpc.gateway.turnstile import Turnstile

Next = Callable[[rtc.RpcInvocationData], Awaitable[str | None]]
"""What livekit would do with a call."""

Work = Callable[[str], Awaitable[str]]
"""What answers a call that was let in, of this identity."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a caller may ask for.

    Args:
        payload_bytes: What a payload may have, in bytes of UTF-8.
        reply_bytes: What a reply may have; clients of livekit's first RPC version take no more.
        at_once: How many calls a caller may make at once, and have in work at a time.
        per_second: How many come back each second.
        refusals: After how many refused for their number a caller who goes on is muted at the server.
        answer_s: How long a method may take, in seconds, when the caller does not say less.
    """

    payload_bytes: int = 8_192
    reply_bytes: int = 15_360
    at_once: int = 100
    per_second: float = 20.0
    refusals: int = 100
    answer_s: float = 10.0


class Gateway(rtc.RpcInterceptor):
    """Answers the calls of a room's participants by the methods it is given, and refuses all others.

    A call is looked at in this order, and the first that is wrong is what the caller is told: who calls (4003),
    how often (4029), how many bytes (4013), strict JSON (4000), the form of the request (4001, 4005); then the
    method itself. Whoever is neither guest nor staff gets 4003 for all but the methods for anybody, also when he
    calls too often, and never sees a version.

    Args:
        methods: What can be called.
        role_of: The role of an identity, or nothing.
        is_there: Whether an identity is a participant that can be seen in the room and is no agent.
        version: The present version of the state, if there is a state yet.
        limits: How much a caller may ask for.
        mutes: Who takes a caller who does not stop off the line; without it he is only refused.
        find: Looks for a caller of a method for anybody who is not there yet: livekit tells of a participant up
            to three seconds late, and his first call may come before. Returns whether he is there now.
        clock: The present second; only differences count.
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
        self._turnstile = Turnstile()
        self._log = CallLog()
        self._rates = Rates(
            at_once=self._limits.at_once, per_second=self._limits.per_second, clock=clock
        )

        self._last_refusal: tuple[tuple[int, int | None], rtc.RpcError] | None = None

    def install(self, participant: rtc.LocalParticipant) -> None:
        """Take over the calls to a participant: the agent's own, once its room is connected."""
        for name in self._methods:
            participant.register_rpc_method(name, self._registered)
        participant.add_rpc_interceptor(self)
        # livekit-agents 1.8.9 installs a tracer when the room is connected, and the first one is outermost: it
        # would keep the beginning of every payload before we have looked at it. There is no public way in front.
        chain = getattr(participant, "_rpc_interceptors", None)
        if isinstance(chain, list) and self in chain:
            chain.remove(self)
            chain.insert(0, self)

    async def aclose(self) -> None:
        """Give those who are muted their voice back, and write all of the log."""
        self._log.close()
        if self._mutes is not None:
            await self._mutes.aclose()

    async def intercept_incoming(self, invocation: rtc.RpcInvocationData, next: Next) -> str | None:
        """Answer a call; one to a method that somebody else has registered is checked, then left to him.

        A call to a method that nobody has registered is refused by livekit's native side, with 1400, and
        comes to no interceptor (livekit 1.1.21).
        """
        if invocation.method in self._methods:
            return await self._registered(invocation)
        call = CallRecord(
            self._log,
            "(not ours)",
            invocation.caller_identity,
            invocation.payload,
            invocation.request_id,
        )

        async def pass_on(identity: str) -> str:
            return await next(invocation) or ""

        return await self._looked_at(call, pass_on, anybody=False, not_ours=True)

    async def handle(
        self,
        method: str,
        caller_identity: str,
        payload: str,
        response_timeout: float,
        *,
        request_id: str = "",
    ) -> str:
        """Answer a call to one of the methods; needs no room.

        Args:
            method: Its name.
            caller_identity: Who calls, as the server says it.
            payload: The text that was sent.
            response_timeout: How long the caller waits, in seconds.
            request_id: For the log.

        Raises:
            RpcError: Everything that is no success.
            KeyError: There is no such method.
        """
        called = self._methods[method]
        call = CallRecord(self._log, method, caller_identity, payload, request_id)

        async def answer(identity: str) -> str:
            return await self._answered(called, identity, payload, response_timeout)

        return await self._looked_at(call, answer, anybody=called.anybody)

    async def _registered(self, invocation: rtc.RpcInvocationData) -> str:
        return await self.handle(
            invocation.method,
            invocation.caller_identity,
            invocation.payload,
            invocation.response_timeout,
            request_id=invocation.request_id,
        )

    async def _looked_at(
        self, call: CallRecord, work: Work, *, anybody: bool, not_ours: bool = False
    ) -> str:
        """Let a call in, have it answered, and turn all that can go wrong into what a caller is told."""
        role: str | None = None
        admitted = False
        try:
            if not call.identity:  # a hidden participant (livekit 1.1.21)
                raise Forbidden(_NOT_YOURS)
            role = self._role(call.identity)
            wait_ms = self._rates.take(call.identity)
            admitted = wait_ms is None
            if wait_ms is not None:
                await self._mute_who_goes_on(call.identity)
            if role is None and admitted and self._role_of(call.identity) is not None:
                # He is known and is not seen just now: after a lost connection the server tells of him later.
                await self._found(call.identity)
                role = self._role(call.identity)
            if not anybody and role is None:
                raise Forbidden(_NOT_YOURS)
            if wait_ms is not None:
                raise self._too_often(wait_ms, role)
            if call.bytes_in > self._limits.payload_bytes:
                raise TooLarge(
                    f"Send at most {self._limits.payload_bytes} bytes.",
                    bytes=call.bytes_in,
                    limit=self._limits.payload_bytes,
                )
            await self._turnstile.passed(call.identity)
            reply = await work(call.identity)
        except asyncio.CancelledError as cancelled:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                call.ended(rtc.RpcError.ErrorCode.RESPONSE_TIMEOUT)
                raise  # the caller's deadline has passed or the room has gone: livekit tells him
            error = self._fault(cancelled, call, role)
        except rtc.RpcError as raised:
            if not_ours or isinstance(raised, _Ready):
                call.ended(raised.code)
                raise
            error = self._fault(raised, call, role)
        except Exception as raised:  # nothing of it reaches a caller as it is
            error = self._fault(raised, call, role)
        else:
            call.ended(0, len(reply.encode()))
            return reply
        finally:
            if admitted:
                self._rates.done(call.identity)
        fault = rpc_error(error)
        call.ended(error.code, len((fault.data or "").encode()))
        raise fault

    async def _answered(
        self, method: AnyMethod, identity: str, payload: str, response_timeout: float
    ) -> str:
        # The caller's own deadline is livekit's, which tells him 1502; ours ends what would go on for longer.
        limit_s = min(response_timeout, self._limits.answer_s)
        deadline = asyncio.timeout(limit_s)
        try:
            async with deadline:
                if not await self._found(identity):
                    raise Forbidden(_NOT_YOURS)
                caller = Caller(identity, self._role(identity))
                reply = await method.answer(params.request(method.request, payload), caller)
        except TimeoutError:
            if deadline.expired():
                raise _TooSlow from None
            raise
        return reply_text(reply, self._limits.reply_bytes)

    def _role(self, identity: str) -> str | None:
        """Return the role of one who is there; an agent or a name from outside the room has none."""
        return self._role_of(identity) if self._is_there(identity) else None

    async def _found(self, identity: str) -> bool:
        if self._is_there(identity):
            return True
        return self._find is not None and await self._find(identity) and self._is_there(identity)

    async def _mute_who_goes_on(self, identity: str) -> None:
        if self._mutes is None:
            return
        if self._rates.refused(identity) > self._limits.refusals:
            self._mutes.mute(identity, lambda: self._rates.pardon(identity))
            await self._mutes.until_asked(identity)
            await self._turnstile.passed(identity)  # all of them go on at once

    def _too_often(self, wait_ms: int, role: str | None) -> "_Ready":
        """Return the one refusal that comes by the thousand; it is written once for all that are alike."""
        version = self._version() if role is not None else None
        if self._last_refusal is None or self._last_refusal[0] != (wait_ms, version):
            error = rpc_error(RateLimited(_TOO_OFTEN, retry_after_ms=wait_ms).told(version))
            self._last_refusal = ((wait_ms, version), error)
        error = self._last_refusal[1]
        return _Ready(error.code, error.message, error.data)

    def _fault(self, error: BaseException, call: CallRecord, role: str | None) -> ErrorObject:
        version = self._version() if role is not None else None
        if isinstance(error, _TooSlow):
            return _object(_SLOW, version, code=5004, kind="outcome_unknown", reason="deadline")
        if isinstance(error, ReplyTooLong):
            call.failed("the reply was too long")
            return _object(_LONG, version, code=5000, kind="internal", reason="reply_too_long")
        known = error if isinstance(error, Exception) else RuntimeError()
        fault = told(known, version)
        if fault.type == "internal":
            call.failed("a method failed", error)
        return fault


class _Ready(rtc.RpcError):
    """An error that can go to the caller as it is."""


class _TooSlow(Exception):
    """A method took longer than it may."""


def _object(detail: str, version: int | None, *, code: int, kind: str, reason: str) -> ErrorObject:
    return ErrorObject(
        code=code,
        type=kind,
        reason=reason,
        detail=detail,
        retryable=kind == "outcome_unknown",
        version=version,
    )


_NOT_YOURS = "This is not yours to call."
_TOO_OFTEN = "You call too often. Wait as long as retry_after_ms says, then go on more slowly."
_SLOW = (
    "This took too long, and it is not known whether it was done."
    " Look at the present state, or ask once more with the same key."
)
_LONG = "The answer is longer than can be sent. Ask for less at once."
