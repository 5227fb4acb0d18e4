"""The restaurant's RPC methods and their handlers."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from pydantic import BaseModel

import rpc.order_session
from rpc import objects
from rpc.gateway import STAFF, AnyMethod, Caller, Forbidden, JsonText, Method
from rpc.order_session import CallOver, Listeners, OrderSession
from rpc.reading import read_command
from rpc.wire import (
    AgentStateRequest,
    Done,
    GetMenuRequest,
    GetOrderStateRequest,
    HelloReply,
    HelloRequest,
    OrderApplyRequest,
    OrderPatch,
    OrderSubscribeRequest,
    OrderUnsubscribeRequest,
    SayReply,
    SayRequest,
    Unchanged,
    WholeOrder,
)
from state.shared import NotStored

Again = Callable[[], Awaitable[None]]
"""Starts a new call after one has ended; returns once its ``OrderSession`` is open."""

CALLS_KEPT = 20
"""How many earlier calls keep answering their idempotency keys."""

Bind = Callable[[Caller], Awaitable[None]]
"""Returns once the caller is the bound guest or staff and the ``OrderSession`` is open; refuses everyone else."""


class OrderMethods:
    """The restaurant's RPC methods.

    Register them before there is an order: every call is refused until ``open``.

    Args:
        bind: Decides whether a caller of ``hello`` is served.
        again: Starts a new call when the guest speaks after the end; without it ``say`` is refused.
    """

    def __init__(self, bind: Bind, again: Again | None = None) -> None:
        self._bind = bind
        self._again = again
        self._order_session: OrderSession | None = None
        self._before: deque[OrderSession] = deque(maxlen=CALLS_KEPT)
        """The sessions of the latest ended calls, whose keys still get their first answer."""
        self._listeners: Listeners | None = None

    def open(self, order_session: OrderSession, listeners: Listeners) -> None:
        """Start serving an order; replaces the previous call's.

        Args:
            order_session: The order.
            listeners: The subscribers to its changes.
        """
        if self._order_session is not None:
            self._order_session.close()
            self._before.append(self._order_session)
        self._order_session, self._listeners = order_session, listeners

    def close(self) -> None:
        """Stop serving."""
        if self._order_session is not None:
            self._order_session.close()
        self._order_session = self._listeners = None
        self._before.clear()

    def methods(self) -> tuple[AnyMethod, ...]:
        """Return all methods."""
        return (
            Method("hello", HelloRequest, self._hello, anybody=True),
            Method("say", SayRequest, self._say),
            Method("get_order_state", GetOrderStateRequest, self._get_order_state),
            Method("get_menu", GetMenuRequest, self._get_menu),
            Method("order.apply", OrderApplyRequest, self._apply),
            Method("order.subscribe", OrderSubscribeRequest, self._subscribe),
            Method("order.unsubscribe", OrderUnsubscribeRequest, self._unsubscribe),
            Method("agent.state", AgentStateRequest, self._agent_state),
        )

    async def _hello(self, request: HelloRequest, caller: Caller) -> HelloReply:
        await self._bind(caller)
        order_session = self._open_session()
        return HelloReply(
            agent=order_session.agent,
            order_id=order_session.shared.state.order_id,
            version=order_session.shared.version,
            active_agent=order_session.conversation.speaker,
            turn=order_session.conversation.turn,
            resume_code=None if caller.role == STAFF else order_session.resume_code,
        )

    async def _say(self, request: SayRequest, caller: Caller) -> SayReply:
        order_session = (
            self._session_of_key(OrderSession.has_said, caller, request.key) or self._open_session()
        )
        if caller.role == STAFF:
            raise Forbidden("Only the guest can call this.")
        try:
            turn = await order_session.say(request.text, caller, request.key)
        except CallOver:
            if self._again is None:
                raise
            await self._wait_for_new_call(self._again)
            turn = await self._open_session().say(request.text, caller, request.key)
        return SayReply(turn=turn)

    async def _wait_for_new_call(self, again: Again) -> None:
        """Wait until a new call has started, at most as long as ``say`` waits for storage."""
        try:
            async with asyncio.timeout(rpc.order_session.SAY_S):
                await again()
        except TimeoutError:
            raise NotStored("another call is starting") from None

    async def _get_order_state(
        self, request: GetOrderStateRequest, caller: Caller
    ) -> WholeOrder | Unchanged | OrderPatch:
        views = self._open_session().views
        version, _ = views.present()
        if request.since == version:
            return Unchanged(version=version)
        if request.since is None or (patch := views.since(request.since)) is None:
            return WholeOrder(version=version, order=JsonText(views.text()))
        return OrderPatch(version=version, base_version=request.since, patch=JsonText(patch))

    async def _get_menu(self, request: GetMenuRequest, caller: Caller) -> BaseModel:
        return self._open_session().menu.answer(request)

    async def _apply(self, request: OrderApplyRequest, caller: Caller) -> WholeOrder:
        order_session = (
            self._session_of_key(OrderSession.has_done, caller, request.key) or self._open_session()
        )
        command = read_command(request.command, caller)
        applied = await order_session.write(
            command, caller, version=request.version, key=request.key
        )
        return WholeOrder(version=applied.version, order=order_session.view_of(applied))

    async def _subscribe(self, request: OrderSubscribeRequest, caller: Caller) -> WholeOrder:
        self._open_session()
        if self._listeners is None:
            raise Forbidden(_CLOSED)
        version, view = self._listeners.subscribe(caller.identity)
        return WholeOrder(version=version, order=view)

    async def _unsubscribe(self, request: OrderUnsubscribeRequest, caller: Caller) -> Done:
        if self._listeners is not None:
            self._listeners.unsubscribe(caller.identity)
        return Done()

    async def _agent_state(self, request: AgentStateRequest, caller: Caller) -> BaseModel:
        order_session = (
            self._session_of_key(OrderSession.has_done, caller, request.key) or self._open_session()
        )
        return await objects.answer(order_session, request, caller)

    def _session_of_key(
        self, known: Callable[[OrderSession, Caller, str], bool], caller: Caller, key: str | None
    ) -> OrderSession | None:
        """Return the session of an ended call that knows this key, so that the request is not repeated."""
        if key is None:
            return None
        return next(
            (order_session for order_session in self._before if known(order_session, caller, key)),
            None,
        )

    def _open_session(self) -> OrderSession:
        if self._order_session is None:
            raise Forbidden(_CLOSED)
        return self._order_session


_CLOSED = "No order is open yet. Call hello first; if you have, try again in a moment."
