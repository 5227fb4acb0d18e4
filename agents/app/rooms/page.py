"""Updates the clients in a room: turn notices, changes of the state, the active agent.

An agent comments on the changes that the user and staff make in their clients.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal

from livekit import rtc

from agents.app.app import App
from agents.app.background import Timer
from agents.app.declaration import attempt, texts_from
from agents.app.parts import C, JsonObject, S
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
"""How long after the last change an agent comments on the changes, in seconds (debounce)."""

REPLY_FIRST_S = 0.01
"""How long a push to subscribers is delayed, in seconds, so that the reply to the change's author is
sent first: a push before it on the same channel would delay it by more than the change took."""

_EVERY_TURN = 1 << 53

EndNoticeReason = Literal["agent_ended", "user_left", "moved", "failed"]
"""Why a call is over, in the notice to clients."""


class Page(Generic[S, C]):
    """Keeps the clients of one call up to date.

    Args:
        agent: The local participant, connected, that calls the clients.
        views: Serves the state's public view.
        resume_code: Resumes the state in another room.
        silent: Whether the user has no client that can be called, as on a telephone.
        recording: The recording of the call, if it is recorded at first.
        on_activity: Called when the user has changed the state in their client.
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
        on_activity: Callable[[], None] = lambda: None,
    ) -> None:
        self._call = call
        self._user = user
        self._resume_code = resume_code
        self._recording = recording
        self._on_activity = on_activity
        self._silent = silent
        self._views = views
        self._app = app
        self._comments = Comments(call.shared.context, app.rooms.comment)
        self._staff_comments = Comments(call.shared.context, app.rooms.staff_comment)
        self._all_comments = (self._comments, self._staff_comments)
        call.replies.use_hint(self._hint)
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
        name, default = "rooms.attributes", dict[str, str]()
        own = attempt(name, default, texts_from, name, attributes, call.state)
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
        """A client has called ``hello``: it can be notified."""
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
            reloaded: Whether the page was reloaded; it then subscribes by itself.
        """
        if reloaded:
            self._subscribers.unsubscribe(self._user)
            # The page shows the current state, and the agent that welcomes the user back mentions it.
            self._comment_timer.stop()
            for comments in self._all_comments:
                comments.discard()
        self._notices.returned(self._user)
        self._ends.returned(self._user)
        self._subscribers.returned(self._user)

    def joined(self, identity: str, *, staff: bool) -> None:
        """Another participant has joined or rejoined: staff are sent the changes they missed."""
        if staff:
            self._subscribers.returned(identity)
        else:
            self._subscribers.unsubscribe(identity)

    def on_reconnected(self) -> None:
        """The agent has reconnected: publish again the updates that may have been lost."""
        self._attributes.again()
        self.show()
        self._notices.returned(self._user)
        self._ends.returned(self._user)
        self._subscribers.returned(self._user)

    def ended(self, reason: EndNoticeReason, *, present: bool, kept: bool = True) -> None:
        """Notify the user and all subscribers that the call is over.

        Args:
            reason: Why.
            present: Whether the user is in the room; otherwise they are notified when they are
                back.
            kept: Whether the state still exists and can be resumed by its code.
        """
        if not self._silent:
            code = (
                {} if self._resume_code is None or not kept else {"resume_code": self._resume_code}
            )
            self._ends.tell(self._user, {"reason": reason, **code}, away=not present)
        for identity in self._subscribers.present:
            self._ends.tell(identity, {"reason": reason})

    async def end_delivered(self) -> None:
        """Wait until every reachable client has received the end notice."""
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

    def live_changed(self, before: JsonObject, after: JsonObject) -> None:
        """Staff have changed live settings."""
        self._call.digest_changed()
        self._staff_comments.add_live(before, after)
        self._schedule_comment()

    # -- events of the call --------------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        match event:
            case Heard():
                self._comment_timer.stop()
                self._notices.withdraw(event.turn - 1)
            case TurnWithdrawn():
                self._comment_timer.stop()
                self._notices.withdraw(event.turn)
            case Said():
                for comments in self._all_comments:
                    comments.agent_said(event)
            case YourTurn():
                self._push_change()  # before the notice, which names the version
                self._notices.give(self._notice(event))
                self._schedule_comment()
            case HandedOver():
                self.show()
            case Ended():
                self._notices.withdraw(_EVERY_TURN)

    def _push_change(self) -> None:
        """Push a delayed change now."""
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
        """Return the times of the answer to the user's last words, if the answer was heard."""
        latency = self._call.turns.latency
        if latency is None or latency.turn != event.turn or latency.tts is None:
            return {}
        parts = {name: round(seconds * 1000) for name, seconds in latency.parts.items()}
        return {"latency_ms": parts}

    # -- changes outside the conversation --------------------------------------------------------------

    def _on_change(self, applied: Applied[S]) -> None:
        if self._push_timer.due_at is None:  # also after the end: staff may change the state
            self._push_timer.start(REPLY_FIRST_S)
        if applied.actor == self._app.page_spec.user:
            self._comments.add(applied)
            self._on_activity()
            self._schedule_comment()
        elif applied.actor in self._app.page_spec.roles:
            self._staff_comments.add(applied)
            self._schedule_comment()

    def _schedule_comment(self) -> None:
        self._comment_timer.stop()
        if any(comments.waiting for comments in self._all_comments):
            self._comment_timer.start(QUIET_S)

    def _say_comment(self) -> None:
        call = self._call
        # Otherwise an agent is speaking or about to: the comment follows at the user's next turn.
        if call.ended is not None or not call.turns.is_user_turn:
            return
        if call.user_holds:
            self._schedule_comment()
            return
        for comments in self._all_comments:
            if (comment := comments.next(call.state)) is not None:
                call.speak(comment.words, about=comment.about, by=comment.agent)
                return  # the next one follows when this one has been said

    def _hint(self) -> str:
        hints = (comments.hint(self._call.state) for comments in self._all_comments)
        return " ".join(hint for hint in hints if hint)
