"""Updates the clients in a room: turn notices, changes of the state, the active agent.

In the other direction, an agent comments on what the user does on the page.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal

from livekit import rtc

from agents.app.app import App
from agents.app.background import Timer
from agents.app.declaration import attempt, texts_from
from agents.app.parts import C, S
from agents.app.rooms.comments import Comments
from agents.app.words import your_turn
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
from rpc.gateway import Attributes, EndNotices, Subscribers, TurnNotices, View, Views
from rpc.page import Recording
from state.shared import Applied

QUIET_S = 1.2
"""How long a page must be quiet before an agent comments on what was done there, in seconds."""

REPLY_FIRST_S = 0.01
"""How long subscribers wait for a change, in seconds, so that its author gets their reply first: a
push sent earlier on the same channel would delay the reply by more than the change took."""

_EVERY_TURN = 1 << 53

ToldReason = Literal["agent_ended", "user_left", "moved", "failed"]
"""Why a call is over, as clients are told."""


class Page(Generic[S, C]):
    """Keeps the clients of one call up to date.

    Args:
        agent: The local participant that notifies them, connected.
        views: Serves the state's public view.
        resume_code: Resumes the state in another room.
        silent: Whether the user has no client that can be called, as on a telephone.
        recording: The recording of the call, if it is recorded at first.
        touched: Called when the user has done something on the page.
    """

    def __init__(
        self,
        app: App[S, C],
        agent: rtc.LocalParticipant,
        call: Call[S, C],
        views: Views,
        *,
        user: str,
        resume_code: str | None = None,
        silent: bool,
        recording: Recording | None = None,
        touched: Callable[[], None] = lambda: None,
    ) -> None:
        self._call = call
        self._user = user
        self._resume_code = resume_code
        self._recording = recording
        self._touched = touched
        self._silent = silent
        self._views = views
        self._app = app
        self._comments = Comments(call.shared.context, app.rooms.comment)
        call.replies.use_hint(lambda: self._comments.hint(call.state))
        self._comment_timer = Timer(self._say_comment)
        self._push_timer = Timer(self._push)
        self._attributes = Attributes(agent)
        self._notices = TurnNotices(agent)
        self._notices.bind(user, silent=silent)
        self._ends = EndNotices(agent)
        self._subscribers = Subscribers(agent, views, app.page_spec.changed_method)
        self._unsubscribe = call.shared.subscribe(self._on_change)
        self._unlisten = call.subscribe(self._on_event)
        self.show()

    def show(self) -> None:
        """Update the agent's attributes: active agent, version, recording, and the application's own."""
        call, attributes = self._call, self._app.rooms.attributes
        what, none = "rooms.attributes", dict[str, str]()
        own = attempt(what, none, texts_from, what, attributes, call.state)
        shown = {
            # The next agent is known as soon as the handoff is stored, before its first word.
            "active_agent": call.shared.speaker or call.speaker,
            **own,
            "version": str(call.shared.version),
        }
        if self._recording is not None:
            shown["recorded"] = "true" if self._recording.active else "false"
        prefix = self._app.prefix
        self._attributes.show({f"{prefix}.{name}": value for name, value in shown.items()})

    def subscribe(self, identity: str) -> tuple[int, View]:
        """Subscribe a client to changes; returns the version and view it starts from."""
        if self._silent and identity == self._user:
            return self._views.present()
        self._notices.may_try_again(identity)
        return self._subscribers.subscribe(identity)

    def unsubscribe(self, identity: str) -> None:
        """Unsubscribe a client."""
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

    def returned(self, *, reloaded: bool) -> None:
        """The user's client is in the room again.

        Args:
            reloaded: Whether the page was loaded again; it subscribes by itself then.
        """
        if reloaded:
            self._subscribers.unsubscribe(self._user)
            # The page shows the present state, and the agent that welcomes the user back names it.
            self._comment_timer.stop()
            self._comments.discard()
        self._notices.returned(self._user)
        self._ends.returned(self._user)
        self._subscribers.returned(self._user)

    def joined(self, identity: str, *, staff: bool) -> None:
        """Another participant is in the room, perhaps again: staff are sent what they missed."""
        if staff:
            self._subscribers.returned(identity)
        else:
            self._subscribers.unsubscribe(identity)

    def connected_again(self) -> None:
        """The agent's own connection was lost and is back: publish the changes made meanwhile again."""
        self._attributes.again()
        self.show()
        self._notices.returned(self._user)
        self._ends.returned(self._user)
        self._subscribers.returned(self._user)

    def ended(self, reason: ToldReason, *, present: bool, kept: bool = True) -> None:
        """Notify the user and all subscribers that the call is over.

        Args:
            reason: Why.
            present: Whether the user is in the room; otherwise they are notified when they are
                back.
            kept: Whether the state is kept, and can be resumed by its code.
        """
        if not self._silent:
            code = (
                {} if self._resume_code is None or not kept else {"resume_code": self._resume_code}
            )
            self._ends.tell(self._user, {"reason": reason, **code}, away=not present)
        for identity in self._subscribers.present:
            self._ends.tell(identity, {"reason": reason})

    async def end_is_told(self) -> None:
        """Wait until every reachable client has been notified that the call is over."""
        await self._ends.delivered()

    async def aclose(self) -> None:
        """Stop notifying clients."""
        self._unlisten()
        self._unsubscribe()
        self._comment_timer.stop()
        self._push_change()
        await self._notices.aclose()
        await self._ends.aclose()
        await self._subscribers.aclose()
        await self._attributes.aclose()

    # -- what happens in the call --------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        match event:
            case Heard():
                self._comment_timer.stop()
                self._notices.withdraw(event.turn - 1)
            case TurnWithdrawn():
                self._comment_timer.stop()
                self._notices.withdraw(event.turn)
            case Said():
                self._comments.agent_said(event)
            case YourTurn():
                self._push_change()  # the notice names a version that the client has by then
                self._notices.give(self._notice(event))
                self._comment_soon()
            case HandedOver():
                self.show()
            case Ended():
                self._notices.withdraw(_EVERY_TURN)

    def _push_change(self) -> None:
        """Push a change now that is to be pushed soon."""
        if self._push_timer.due_at is not None:
            self._push_timer.stop()
            self._push()

    def _push(self) -> None:
        self._subscribers.changed()
        self.show()

    def _notice(self, event: YourTurn) -> dict[str, Any]:
        named: Sequence[str] = ()
        if event.expects == "choice" and self._app.rooms.choices is not None:
            named = attempt("rooms.choices", (), self._app.rooms.choices, self._call)
        return {
            "turn": event.turn,
            "your_turn": True,
            "active_agent": event.agent,
            "version": event.version,
            "expects": event.expects,
            **({"choices": [*named]} if named else {}),
            "text": your_turn(event.expects, named),
            **self._latency(event),
        }

    def _latency(self, event: YourTurn) -> dict[str, Any]:
        """Return where the time went since the user's last words, if the answer was heard."""
        latency = self._call.turns.latency
        if latency is None or latency.turn != event.turn or latency.tts is None:
            return {}
        parts = {name: round(seconds * 1000) for name, seconds in latency.parts.items()}
        return {"latency_ms": parts}

    # -- what the user does on the page -----------------------------------------------------------------

    def _on_change(self, applied: Applied[S]) -> None:
        if self._push_timer.due_at is None:  # also after the end: others change it as well
            self._push_timer.start(REPLY_FIRST_S)
        if applied.actor == self._app.page_spec.user:
            self._comments.add(applied)
            self._touched()
            self._comment_soon()

    def _comment_soon(self) -> None:
        self._comment_timer.stop()
        if self._comments.waiting:
            self._comment_timer.start(QUIET_S)

    def _say_comment(self) -> None:
        call = self._call
        # Not the user's turn: an agent speaks or is about to. The comment follows when that is
        # over.
        if call.ended is not None or not call.turns.is_user_turn:
            return
        if call.user_holds:
            self._comment_soon()
            return
        if (comment := self._comments.next(call.state)) is not None:
            call.speak(comment.words, about=comment.about)
