"""What clients in the room are shown of a call: whose turn it is, how the order changes, who speaks.

And the other way round: what the guest does on his page, an agent speaks to.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from livekit import rtc

from agents.handoff import (
    Call,
    Ended,
    Event,
    HandedOver,
    Heard,
    Said,
    TurnWithdrawn,
    YourTurn,
)
from agents.telling import choices
from bella_vista.rooms.remarks import PageChanges
from bella_vista.rooms.words import your_turn
from rpc.gateway import GUEST
from rpc.gateway.attributes import Attributes
from rpc.gateway.history import View, Views
from rpc.gateway.notices import EndNotices, TurnNotices
from rpc.gateway.push import Subscribers
from state.context import OrderContext
from state.order import OrderState
from state.shared import Applied

ACTIVE_AGENT, STAGE, VERSION = "bella.active_agent", "bella.stage", "bella.version"
"""The agent's attributes, for clients that only look."""

QUIET_S = 1.2
"""How long a page must be quiet before an agent speaks to what was done on it, in seconds."""

REPLY_FIRST_S = 0.01
"""How long others wait to be told of a change, in seconds, so that who made it is answered first: what goes out
before it on the same channel would hold his answer up for longer than the change took."""

_EVERY_TURN = 1 << 53

EndReason = Literal["agent_ended", "user_left", "moved", "failed"]
"""Why a call is over, as clients are told it."""


class Page:
    """What the clients of one call see of it.

    Args:
        agent: Who tells them: the agent in its room, connected.
        call: The call.
        views: What its order looks like from outside.
        guest: The identity of its guest.
        resume_code: Goes on with the order in another room.
        silent: Whether he has no client that can be called, as on a telephone.
        touched: Called when the guest has done something on his page.
    """

    def __init__(
        self,
        agent: rtc.LocalParticipant,
        call: Call[OrderState, OrderContext],
        views: Views,
        *,
        guest: str,
        resume_code: str | None = None,
        silent: bool,
        touched: Callable[[], None] = lambda: None,
    ) -> None:
        self._call = call
        self._guest = guest
        self._resume_code = resume_code
        self._touched = touched
        self._silent = silent
        self._views = views
        self._changes = PageChanges(call.shared.context)
        self._remark: asyncio.TimerHandle | None = None
        self._untold: asyncio.TimerHandle | None = None
        self._attributes = Attributes(agent)
        self._notices = TurnNotices(agent)
        self._notices.bind(guest, silent=silent)
        self._ends = EndNotices(agent)
        self._subscribers = Subscribers(agent, views)
        self._unsubscribe = call.shared.subscribe(self._on_change)
        self._unlisten = call.subscribe(self._on_event)
        self.show()

    def show(self) -> None:
        """Show who speaks and how far the order is, to clients that only look."""
        call = self._call
        self._attributes.show(
            {
                # Who speaks next is known as soon as it is written down, before his first word.
                ACTIVE_AGENT: call.shared.speaker or call.speaker,
                STAGE: call.state.stage.value,
                VERSION: str(call.shared.version),
            }
        )

    def subscribe(self, identity: str) -> tuple[int, View]:
        """Tell a client every change from now on; returns the version and view it starts from."""
        if self._silent and identity == self._guest:
            return self._views.present()
        self._notices.may_try_again(identity)
        return self._subscribers.subscribe(identity)

    def unsubscribe(self, identity: str) -> None:
        """Tell a client no more changes."""
        self._subscribers.unsubscribe(identity)

    def greeted(self, identity: str) -> None:
        """A client has said hello: it can be called."""
        self._notices.may_try_again(identity)
        self._ends.may_try_again(identity)

    def left(self, identity: str) -> None:
        """A client has left the room."""
        self._notices.left(identity)
        self._ends.left(identity)
        self._subscribers.left(identity)

    def returned(self, *, anew: bool) -> None:
        """The guest's client is in the room again.

        Args:
            anew: Whether it is a page that was loaded again, which subscribes by itself.
        """
        if anew:
            self._subscribers.unsubscribe(self._guest)
            # He sees how his order stands, and the agent that welcomes him back says it.
            self._forget_remark()
            self._changes.forget()
        self._notices.returned(self._guest)
        self._ends.returned(self._guest)
        self._subscribers.returned(self._guest)

    def joined(self, identity: str, *, staff: bool) -> None:
        """Somebody else is in the room, perhaps again: of the staff he is told what he missed."""
        if staff:
            self._subscribers.returned(identity)
        else:
            self._subscribers.unsubscribe(identity)

    def connected_again(self) -> None:
        """The agent's own connection was lost and is back: what it showed meanwhile nobody has seen."""
        self._attributes.again()
        self.show()
        self._notices.returned(self._guest)
        self._ends.returned(self._guest)
        self._subscribers.returned(self._guest)

    def ended(self, reason: EndReason, *, present: bool) -> None:
        """Tell the guest and those who subscribed that the call is over.

        Args:
            reason: Why.
            present: Whether the guest is in the room; they are told when they are back.
        """
        if not self._silent:
            code = {} if self._resume_code is None else {"resume_code": self._resume_code}
            self._ends.tell(self._guest, {"reason": reason, **code}, away=not present)
        for identity in self._subscribers.present:
            self._ends.tell(identity, {"reason": reason})

    async def end_is_told(self) -> None:
        """Wait until everybody who can be reached knows that the call is over."""
        await self._ends.delivered()

    async def aclose(self) -> None:
        """Show nothing more."""
        self._unlisten()
        self._unsubscribe()
        self._forget_remark()
        self._tell_change()
        await self._notices.aclose()
        await self._ends.aclose()
        await self._subscribers.aclose()
        await self._attributes.aclose()

    # -- what happens in the call --------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        match event:
            case Heard():
                self._forget_remark()
                self._notices.withdraw(event.turn - 1)
            case TurnWithdrawn():
                self._forget_remark()
                self._notices.withdraw(event.turn)
            case Said():
                self._changes.said(event.text)
            case YourTurn():
                self._tell_change()  # its version is the one the client has by then
                self._notices.give(self._notice(event))
                self._remark_soon()
            case HandedOver():
                self.show()
            case Ended():
                self._notices.withdraw(_EVERY_TURN)
            case _:
                pass

    def _tell_change_soon(self) -> None:
        if self._untold is None:
            loop = asyncio.get_running_loop()
            self._untold = loop.call_later(REPLY_FIRST_S, self._tell_change)

    def _tell_change(self) -> None:
        if self._untold is not None:
            self._untold.cancel()
            self._untold = None
            self._subscribers.changed()
            self.show()

    def _notice(self, event: YourTurn) -> dict[str, Any]:
        named: list[str] = []
        if event.expects == "choice":
            payment = self._call.shared.context.menu.restaurant.payment
            named = choices(self._call.last_refusal) or list(payment)
        return {
            "turn": event.turn,
            "your_turn": True,
            "active_agent": event.agent,
            "version": event.version,
            "expects": event.expects,
            **({"choices": [*named]} if named else {}),
            "text": your_turn(event.expects, named),
        }

    # -- what the guest does on his page -----------------------------------------------------------------

    def _on_change(self, applied: Applied[OrderState]) -> None:
        self._tell_change_soon()  # also after the end: staff move the order on
        if applied.actor != GUEST:
            self._changes.note_another(applied)
        else:
            self._changes.note(applied)
            self._touched()
            self._remark_soon()

    def _remark_soon(self) -> None:
        self._forget_remark()
        if self._changes.waiting:
            loop = asyncio.get_running_loop()
            self._remark = loop.call_later(QUIET_S, self._say_remark)

    def _forget_remark(self) -> None:
        if self._remark is not None:
            self._remark.cancel()
            self._remark = None

    def _say_remark(self) -> None:
        self._remark = None
        call = self._call
        # Not his turn: an agent speaks, or he is being answered. It is said when that is over.
        if call.ended is not None or not call.turns.is_user_turn:
            return
        if words := self._changes.words(call.state):
            call.speak(words)
