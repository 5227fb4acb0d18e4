"""An application's page without a room: its methods behind a gateway, called as clients call them."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from livekit import rtc
from pydantic import BaseModel

from rpc.gateway import Caller, Forbidden, Gateway, Limits, View
from rpc.page import Again, MicrophoneMode, PageMethods, PageSpec, Session, Turns
from state.shared import Refused, SharedState

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")

_NO_LIMITS = Limits(at_once=100_000, per_second=1e9)


class FakeConversation:
    """A conversation that only records what it hears."""

    def __init__(self, speaker: str = "agent") -> None:
        self.turn = 0
        self.speaker = speaker
        self.heard: list[str] = []
        """The user's messages, oldest first."""
        self.over = False
        """Whether the call has ended, so that nothing is heard any more."""

    def user_said(self, text: str) -> int:
        """Record the user's words; return their turn."""
        if not self.over:
            self.heard.append(text)
            self.turn += 1
        return self.turn


class CallRefused(Exception):
    """A call was answered with an ``RpcError``.

    Args:
        error: The error as the client receives it.
    """

    def __init__(self, error: rtc.RpcError) -> None:
        self.code = error.code
        self.told: dict[str, Any] = json.loads(error.data or "null")
        """The error object."""
        super().__init__(f"{error.code} {self.told}")


class FakeTurns:
    """Spoken turns in which nothing is heard, as a call with audio has them."""

    def __init__(self) -> None:
        self.done: list[str] = []
        """The requests so far: ``start``, ``end``, ``cancel``, or a mode of the microphone."""
        self._held = False

    def start(self) -> int:
        """Begin turn 2."""
        self.done.append("start")
        self._held = True
        return 2

    def end(self) -> int:
        """End turn 2.

        Raises:
            Refused: It was not started.
        """
        self._let_go("end")
        return 2

    def cancel(self) -> int:
        """Forget turn 2.

        Raises:
            Refused: It was not started.
        """
        self._let_go("cancel")
        return 1

    def set_mode(self, mode: MicrophoneMode) -> None:
        """Note the mode."""
        self.done.append(mode)

    def _let_go(self, how: str) -> None:
        if not self._held:
            raise Refused("No turn was started: call start_turn first.", reason="no_turn")
        self._held = False
        self.done.append(how)


class FakePage(Generic[S, C]):
    """The methods of an application's page over a state, for any ``PageSpec``: JSON in, JSON out.

    A call of the test passes the gateway's checks except for the rate limit, and needs no room.

    Args:
        spec: The page.
        shared: The state.
        callers: The role of each identity; without it each role has the caller ``<role>-1``.
        agent: The application's name.
        state_id: The state's id.
        resume_code: The user's code for another room.
        speaker: The active agent.
        again: Starts a new call when something is said after the end.
        turns: Returns the control of spoken turns; without it the call has no audio.
        open_at_once: Whether the session is open from the start.
    """

    def __init__(
        self,
        spec: PageSpec[S, C],
        shared: SharedState[S, C],
        *,
        callers: Mapping[str, str] | None = None,
        agent: str = "agent",
        state_id: str = "a-state",
        resume_code: str | None = None,
        speaker: str = "agent",
        again: Again | None = None,
        turns: Callable[[], Turns | None] | None = None,
        open_at_once: bool = True,
    ) -> None:
        self.spec = spec
        self.shared = shared
        self.callers = dict(callers or {f"{role}-1": role for role in spec.roles})
        self.user = next(who for who, role in self.callers.items() if role == spec.user)
        """The identity of the bound user, who makes a call unless another is named."""
        self.conversation = FakeConversation(speaker)
        self.session = Session(
            spec,
            shared,
            self.conversation,
            state_id=state_id,
            agent=agent,
            resume_code=resume_code,
            turns=turns,
        )
        self.subscribed: list[str] = []
        """The identities subscribed to changes, oldest first."""
        self.methods = PageMethods(spec, self.bind, again)
        if open_at_once:
            self.methods.open(self.session, self)
        self.gateway = Gateway(
            self.methods.methods(),
            role_of=self.callers.get,
            is_there=lambda identity: True,
            version=lambda: self.shared.version,
            limits=_NO_LIMITS,
        )

    async def bind(self, caller: Caller) -> None:
        """Refuse callers without a role."""
        if caller.role is None:
            raise Forbidden("This room is another user's.")

    def subscribe(self, identity: str) -> tuple[int, View]:
        """Record a subscriber."""
        self.subscribed.append(identity)
        return self.session.views.present()

    def unsubscribe(self, identity: str) -> None:
        """Remove a subscriber."""
        self.subscribed = [who for who in self.subscribed if who != identity]

    async def text(
        self, method: str, payload: Mapping[str, Any] | str = "", who: str | None = None
    ) -> str:
        """Call a method and return the reply as it is sent.

        Raises:
            CallRefused: It was answered with an error.
        """
        text = payload if isinstance(payload, str) else json.dumps(payload)
        try:
            return await self.gateway.handle(method, who or self.user, text, 10.0)
        except rtc.RpcError as error:
            raise CallRefused(error) from None

    async def call(
        self, method: str, payload: Mapping[str, Any] | str = "", who: str | None = None
    ) -> dict[str, Any]:
        """Call a method and return the reply.

        Raises:
            CallRefused: It was answered with an error.
        """
        reply: dict[str, Any] = json.loads(await self.text(method, payload, who))
        return reply

    async def refused(
        self, method: str, payload: Mapping[str, Any] | str = "", who: str | None = None
    ) -> dict[str, Any]:
        """Call a method that must be refused, and return the error object; the state must not change.

        Raises:
            AssertionError: It was answered, or the state has changed.
        """
        before = self.shared.state.model_dump_json(), self.shared.version
        try:
            reply = await self.call(method, payload, who)
        except CallRefused as refused:
            if before != (self.shared.state.model_dump_json(), self.shared.version):
                raise AssertionError("a refused call has changed the state") from None
            return refused.told
        raise AssertionError(f"it was answered: {reply}")

    async def apply(
        self, op: str, who: str | None = None, version: int | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Send a command, with the present version unless another is given."""
        seen = self.shared.version if version is None else version
        command = {"op": op, **fields}
        return await self.call(
            f"{self.spec.noun}.apply", {"command": command, "version": seen}, who
        )

    async def state(
        self,
        operation: str,
        object_type: str | None = None,
        object_id: str | None = None,
        data: Mapping[str, Any] | None = None,
        who: str | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Call ``agent.state``; a change has the present version unless another is given."""
        payload: dict[str, Any] = {"operation": operation, **more}
        named = (("object_type", object_type), ("object_id", object_id), ("data", data))
        payload |= {name: value for name, value in named if value is not None}
        if operation in ("update", "delete"):
            payload.setdefault("version", self.shared.version)
        return await self.call("agent.state", payload, who)
