"""What clients can call, and what is done then."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from pydantic import BaseModel

import rpc.desk
from rpc import objects
from rpc.desk import CallOver, Listeners, OrderDesk
from rpc.gateway import STAFF, AnyMethod, Caller, Forbidden, JsonText, Method
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
"""Begins another call in the place of one that is over; returns once its desk is open."""

CALLS_KEPT = 20
"""Of how many calls before the present one the keys are known."""

Bind = Callable[[Caller], Awaitable[None]]
"""Returns once the caller is the bound guest or of the staff, and the desk is open; refuses strangers."""


class OrderMethods:
    """The restaurant's methods.

    They can be registered before there is an order: until the desk is open all of them are refused.

    Args:
        bind: Decides about whoever says hello.
        again: Begins another call when the guest speaks after the end; without it they are refused.
    """

    def __init__(self, bind: Bind, again: Again | None = None) -> None:
        self._bind = bind
        self._again = again
        self._desk: OrderDesk | None = None
        self._before: deque[OrderDesk] = deque(maxlen=CALLS_KEPT)
        """The desks of the last calls that are over: their keys are answered as they were."""
        self._listeners: Listeners | None = None

    def open(self, desk: OrderDesk, listeners: Listeners) -> None:
        """Begin to serve, in the place of the call before if there was one.

        Args:
            desk: The order.
            listeners: Those who are told its changes.
        """
        if self._desk is not None:
            self._desk.close()
            self._before.append(self._desk)
        self._desk, self._listeners = desk, listeners

    def close(self) -> None:
        """Serve nobody any more."""
        if self._desk is not None:
            self._desk.close()
        self._desk = self._listeners = None
        self._before.clear()

    def methods(self) -> tuple[AnyMethod, ...]:
        """Return everything that can be called."""
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
        desk = self._opened()
        return HelloReply(
            agent=desk.agent,
            order_id=desk.shared.state.order_id,
            version=desk.shared.version,
            active_agent=desk.conversation.speaker,
            turn=desk.conversation.turn,
            resume_code=None if caller.role == STAFF else desk.resume_code,
        )

    async def _say(self, request: SayRequest, caller: Caller) -> SayReply:
        desk = self._asked_before(OrderDesk.has_said, caller, request.key) or self._opened()
        if caller.role == STAFF:
            raise Forbidden("Only the guest speaks here.")
        try:
            turn = await desk.say(request.text, caller, request.key)
        except CallOver:
            if self._again is None:
                raise
            await self._begun(self._again)
            turn = await self._opened().say(request.text, caller, request.key)
        return SayReply(turn=turn)

    async def _begun(self, again: Again) -> None:
        """Wait until another call has begun, for as long as a client waits for its words to be stored."""
        try:
            async with asyncio.timeout(rpc.desk.SAY_S):
                await again()
        except TimeoutError:
            raise NotStored("another call is only beginning") from None

    async def _get_order_state(
        self, request: GetOrderStateRequest, caller: Caller
    ) -> WholeOrder | Unchanged | OrderPatch:
        views = self._opened().views
        version, _ = views.present()
        if request.since == version:
            return Unchanged(version=version)
        if request.since is None or (patch := views.since(request.since)) is None:
            return WholeOrder(version=version, order=JsonText(views.text()))
        return OrderPatch(version=version, base_version=request.since, patch=JsonText(patch))

    async def _get_menu(self, request: GetMenuRequest, caller: Caller) -> BaseModel:
        return self._opened().menu.answer(request)

    async def _apply(self, request: OrderApplyRequest, caller: Caller) -> WholeOrder:
        desk = self._asked_before(OrderDesk.has_done, caller, request.key) or self._opened()
        command = read_command(request.command, caller)
        applied = await desk.write(command, caller, version=request.version, key=request.key)
        return WholeOrder(version=applied.version, order=desk.view_of(applied))

    async def _subscribe(self, request: OrderSubscribeRequest, caller: Caller) -> WholeOrder:
        self._opened()
        if self._listeners is None:
            raise Forbidden(_CLOSED)
        version, view = self._listeners.subscribe(caller.identity)
        return WholeOrder(version=version, order=view)

    async def _unsubscribe(self, request: OrderUnsubscribeRequest, caller: Caller) -> Done:
        if self._listeners is not None:
            self._listeners.unsubscribe(caller.identity)
        return Done()

    async def _agent_state(self, request: AgentStateRequest, caller: Caller) -> BaseModel:
        desk = self._asked_before(OrderDesk.has_done, caller, request.key) or self._opened()
        return await objects.answer(desk, request, caller)

    def _asked_before(
        self, known: Callable[[OrderDesk, Caller, str], bool], caller: Caller, key: str | None
    ) -> OrderDesk | None:
        """Find the desk of a call that is over and has answered this key: nothing of it is done in another call."""
        if key is None:
            return None
        return next((desk for desk in self._before if known(desk, caller, key)), None)

    def _opened(self) -> OrderDesk:
        if self._desk is None:
            raise Forbidden(_CLOSED)
        return self._desk


_CLOSED = "Nobody is served here yet. Say hello first; if you have, ask again in a moment."
