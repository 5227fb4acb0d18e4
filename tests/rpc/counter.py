"""A house whose order is reached as clients reach it: JSON in, JSON out, through the gateway."""

import json
from collections.abc import Mapping
from typing import Any

from livekit import rtc

from rpc.gateway import Caller, Forbidden, Gateway, Limits, View
from rpc.page import PageMethods, Session
from rpc.restaurant import GUEST, ORDER_PAGE, STAFF
from state.context import OrderContext
from state.menu import Menu
from state.order import OrderState
from state.shared import SharedState
from tests.state.house import House

ADA, COOK, STRANGER = "ada-1", "cook-1", "nobody-1"
ROLES = {ADA: GUEST, COOK: STAFF, "cook-2": STAFF}
NO_HURRY = Limits(at_once=100_000, per_second=1e9)


class Talk:
    """A conversation that writes down what it hears."""

    def __init__(self) -> None:
        self.turn = 0
        self.speaker = "greeter"
        self.heard: list[str] = []
        self.over = False

    def user_said(self, text: str) -> int:
        if not self.over:
            self.heard.append(text)
            self.turn += 1
        return self.turn


class Board:
    """Listeners that only keep who they are."""

    def __init__(self, order_session: Session[OrderState, OrderContext]) -> None:
        self._order_session = order_session
        self.who: list[str] = []

    def subscribe(self, identity: str) -> tuple[int, View]:
        self.who.append(identity)
        return self._order_session.views.present()

    def unsubscribe(self, identity: str) -> None:
        self.who = [who for who in self.who if who != identity]


class Refusal(Exception):
    """An answer that is no success, as a client reads it."""

    def __init__(self, error: rtc.RpcError) -> None:
        self.told: dict[str, Any] = json.loads(error.data or "null")
        super().__init__(f"{error.code} {self.told}")
        self.code = error.code
        assert self.told["code"] == error.code
        assert len(error.message.encode()) <= 256


class Counter:
    """Calls of the guest Ada, of the cook, and of a stranger.

    Args:
        menu: The menu; the small house's without it.
        shared: The order; a new one without it.
    """

    def __init__(
        self,
        menu: Menu | None = None,
        shared: SharedState[OrderState, OrderContext] | None = None,
        *,
        open_at_once: bool = True,
    ) -> None:
        self.house = House(menu)
        self.shared = shared or SharedState(
            self.house.order(), self.house.context, speaker="greeter"
        )
        self.talk = Talk()
        self.order_session = Session(
            ORDER_PAGE,
            self.shared,
            self.talk,
            state_id=self.shared.state.order_id,
            agent="bella-vista",
            resume_code="abcd-efgh-jkmn",
        )
        self.board = Board(self.order_session)
        self.methods = PageMethods(ORDER_PAGE, self._bind)
        if open_at_once:
            self.methods.open(self.order_session, self.board)
        self.gateway = Gateway(
            self.methods.methods(),
            role_of=ROLES.get,
            is_there=lambda identity: True,
            version=lambda: self.shared.version,
            limits=NO_HURRY,
        )

    async def _bind(self, caller: Caller) -> None:
        if caller.role is None:
            raise Forbidden("This room is somebody else's.")

    @property
    def order(self) -> OrderState:
        return self.shared.state

    async def text(self, method: str, payload: Mapping[str, Any] | str = "", who: str = ADA) -> str:
        text = payload if isinstance(payload, str) else json.dumps(payload)
        try:
            reply = await self.gateway.handle(method, who, text, 10.0)
        except rtc.RpcError as error:
            raise Refusal(error) from None
        assert len(reply.encode()) < 15_360
        return reply

    async def call(
        self, method: str, payload: Mapping[str, Any] | str = "", who: str = ADA
    ) -> dict[str, Any]:
        """Return the reply to a call."""
        reply: dict[str, Any] = json.loads(await self.text(method, payload, who))
        return reply

    async def refused(
        self, method: str, payload: Mapping[str, Any] | str = "", who: str = ADA
    ) -> dict[str, Any]:
        """Return why a call was refused; the order has to be as before."""
        before = self.shared.state.model_dump_json(), self.shared.version
        try:
            reply = await self.call(method, payload, who)
        except Refusal as refusal:
            assert before == (self.shared.state.model_dump_json(), self.shared.version)
            return refusal.told
        raise AssertionError(f"it was answered: {reply}")

    async def state(
        self,
        operation: str,
        object_type: str | None = None,
        object_id: str | None = None,
        data: Mapping[str, Any] | None = None,
        who: str = ADA,
        **more: Any,
    ) -> dict[str, Any]:
        """Call ``agent.state``, with the present version where none is given."""
        payload: dict[str, Any] = {"operation": operation, **more}
        named = (("object_type", object_type), ("object_id", object_id))
        payload |= {name: value for name, value in named if value is not None}
        if data is not None:
            payload["data"] = dict(data)
        if operation in ("update", "delete"):
            payload.setdefault("version", self.shared.version)
        return await self.call("agent.state", payload, who)

    async def apply(
        self, op: str, who: str = ADA, version: int | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Call ``order.apply``, with the present version where none is given."""
        seen = self.shared.version if version is None else version
        return await self.call(
            "order.apply", {"command": {"op": op, **fields}, "version": seen}, who
        )
