"""The methods of a page, bound to the present call's session."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic

from pydantic import BaseModel, JsonValue

import rpc.page.session
from rpc.gateway import (
    AnyMethod,
    Caller,
    Forbidden,
    JsonText,
    Method,
    NotYet,
    UnknownOperation,
    part,
)
from rpc.page import objects
from rpc.page.contract import method_forms
from rpc.page.forms import (
    AgentStateRequest,
    ApplyRequest,
    CancelTurnRequest,
    Done,
    EndTurnRequest,
    GetStateRequest,
    GetTranscriptRequest,
    HelloRequest,
    MicrophoneReply,
    RefuseRecordingRequest,
    SayReply,
    SayRequest,
    SetMicrophoneRequest,
    StartTurnRequest,
    StatePatch,
    SubscribeRequest,
    Transcript,
    TurnReply,
    Unchanged,
    UnsubscribeRequest,
)
from rpc.page.objects import wrong
from rpc.page.session import C, CallOver, Listeners, S, Session, Turns
from rpc.page.spec import PageMethod, PageSpec
from state.shared import Command, NotStored

Again = Callable[[], Awaitable[None]]
"""Starts a new call after one has ended; returns once its ``Session`` is open."""

_LOOK_EVERY_S = 0.02

CALLS_KEPT = 20
"""How many earlier calls keep answering their idempotency keys."""

Bind = Callable[[Caller], Awaitable[None]]
"""Returns once the caller is the bound user or has another role and the ``Session`` is open; refuses everyone else."""


class PageMethods(Generic[S, C]):
    """The methods that clients of an application call.

    Register them before there is a state: every call is refused until ``open``.

    Args:
        spec: The application's page.
        bind: Decides whether a caller of ``hello`` is served.
        again: Starts a new call when the user speaks after the end; without it ``say`` is refused.
    """

    def __init__(self, spec: PageSpec[S, C], bind: Bind, again: Again | None = None) -> None:
        self._spec = spec
        self._bind = bind
        self._again = again
        self._session: Session[S, C] | None = None
        self._before: deque[Session[S, C]] = deque(maxlen=CALLS_KEPT)
        """The sessions of the latest ended calls, whose keys still get their first answer."""
        self._listeners: Listeners | None = None

    def open(self, session: Session[S, C], listeners: Listeners) -> None:
        """Start serving a session; replaces the previous call's.

        Args:
            session: The session.
            listeners: The subscribers to its changes.
        """
        if self._session is not None:
            self._session.close()
            self._before.append(self._session)
        self._session, self._listeners = session, listeners

    def close(self) -> None:
        """Stop serving."""
        if self._session is not None:
            self._session.close()
        self._session = self._listeners = None
        self._before.clear()

    def methods(self) -> tuple[AnyMethod, ...]:
        """Return all methods."""
        noun = self._spec.noun
        answers: dict[str, Callable[[Any, Caller], Awaitable[BaseModel]]] = {
            "hello": self._hello,
            "say": self._say,
            "get_transcript": self._get_transcript,
            "refuse_recording": self._refuse_recording,
            "start_turn": self._start_turn,
            "end_turn": self._end_turn,
            "cancel_turn": self._cancel_turn,
            "set_microphone": self._set_microphone,
            f"get_{noun}_state": self._get_state,
            f"{noun}.apply": self._apply,
            f"{noun}.subscribe": self._subscribe,
            f"{noun}.unsubscribe": self._unsubscribe,
            "agent.state": self._agent_state,
        }
        for method in self._spec.methods:
            answers[method.name] = self._bound(method)
        return tuple(
            Method(name, form.request, answers[name], roles=form.callers, anybody=name == "hello")
            for name, form in method_forms(self._spec).items()
        )

    def _bound(self, method: PageMethod[S, C]) -> Callable[[Any, Caller], Awaitable[BaseModel]]:
        async def bound(request: Any, caller: Caller) -> BaseModel:
            given = getattr(request, "key", None)
            key = given if isinstance(given, str) else None
            session = self._session_for(caller, key)
            if method.writes:
                session.check_open(caller, key)
            return await method.answer(session, request, caller)

        return bound

    async def _hello(self, request: HelloRequest, caller: Caller) -> BaseModel:
        try:
            await self._bind(caller)
        except asyncio.CancelledError:  # the caller's time is over before the call has opened
            raise NotYet("The agent is still starting. Call hello again in a moment.") from None
        session = self._open_session()
        # A caller without a role was bound as the user just now.
        is_user = caller.role in (None, self._spec.user)
        given: dict[str, Any] = {f"{self._spec.noun}_id": session.state_id}
        if self._spec.repeat is not None and is_user:
            given[f"last_{self._spec.noun}"] = session.last
        return self._spec.hello_reply(
            agent=session.agent,
            version=session.shared.version,
            features=(*self._spec.all_features, *session.features),
            active_agent=session.conversation.speaker,
            turn=session.conversation.turn,
            resume_code=session.resume_code if is_user else None,
            **given,
        )

    async def _say(self, request: SayRequest, caller: Caller) -> SayReply:
        session = self._session_for(caller, request.key, Session.has_said)
        try:
            turn = await session.say(request.text, caller, request.key)
        except CallOver:
            if self._again is None:
                raise
            await self._wait_for_new_call(self._again)
            turn = await self._open_session().say(request.text, caller, request.key)
        return SayReply(turn=turn)

    async def _get_transcript(self, request: GetTranscriptRequest, caller: Caller) -> Transcript:
        return self._open_session().lines.page(request.before)

    async def _refuse_recording(self, request: RefuseRecordingRequest, caller: Caller) -> Done:
        recording = self._open_session().recording
        if recording is not None:
            recording.refuse()
        return Done()

    async def _start_turn(self, request: StartTurnRequest, caller: Caller) -> TurnReply:
        try:
            turns = await self._turns()
        except CallOver:
            if self._again is None:
                raise
            await self._wait_for_new_call(self._again)
            turns = await self._turns()
        return TurnReply(turn=turns.start())

    async def _end_turn(self, request: EndTurnRequest, caller: Caller) -> TurnReply:
        return TurnReply(turn=self._open_session().started_turns().end())

    async def _cancel_turn(self, request: CancelTurnRequest, caller: Caller) -> TurnReply:
        return TurnReply(turn=self._open_session().started_turns().cancel())

    async def _set_microphone(
        self, request: SetMicrophoneRequest, caller: Caller
    ) -> MicrophoneReply:
        (await self._turns()).set_mode(request.mode)
        return MicrophoneReply(mode=request.mode)

    async def _turns(self) -> Turns:
        """Return the control of spoken turns; wait a moment for a call that has just begun."""
        loop = asyncio.get_running_loop()
        until = loop.time() + rpc.page.session.SAY_S
        while True:
            try:
                return self._open_session().turns()
            except NotYet:
                if loop.time() >= until:
                    raise
            await asyncio.sleep(_LOOK_EVERY_S)

    async def _wait_for_new_call(self, again: Again) -> None:
        """Wait until a new call has started, at most as long as ``say`` waits for storage."""
        try:
            async with asyncio.timeout(rpc.page.session.SAY_S):
                await again()
        except (TimeoutError, asyncio.CancelledError):  # or the caller has less time
            raise NotStored("another call is starting") from None

    async def _get_state(self, request: GetStateRequest, caller: Caller) -> BaseModel:
        views = self._open_session().views
        version, _ = views.present()
        if request.since == version:
            return Unchanged(version=version)
        if request.since is None or (patch := views.since(request.since)) is None:
            return self._whole(version, JsonText(views.text()))
        return StatePatch(version=version, base_version=request.since, patch=JsonText(patch))

    async def _apply(self, request: ApplyRequest, caller: Caller) -> BaseModel:
        session = self._session_for(caller, request.key)
        command = read_command(self._spec, request.command, caller)
        applied = await session.write(command, caller, version=request.version, key=request.key)
        return self._whole(applied.version, session.view_of(applied))

    async def _subscribe(self, request: SubscribeRequest, caller: Caller) -> BaseModel:
        self._open_session()
        if self._listeners is None:
            raise Forbidden(self._closed)
        version, view = self._listeners.subscribe(caller.identity)
        return self._whole(version, view)

    async def _unsubscribe(self, request: UnsubscribeRequest, caller: Caller) -> Done:
        if self._listeners is not None:
            self._listeners.unsubscribe(caller.identity)
        return Done()

    async def _agent_state(self, request: AgentStateRequest, caller: Caller) -> BaseModel:
        session = self._session_for(caller, request.key)
        return await objects.answer(self._spec, session, request, caller)

    def _whole(self, version: int, view: Mapping[str, JsonValue] | JsonText) -> BaseModel:
        return self._spec.whole_state(version=version, **{self._spec.noun: view})

    def _session_for(
        self,
        caller: Caller,
        key: str | None,
        known: Callable[[Session[S, C], Caller, str], bool] = Session.has_done,
    ) -> Session[S, C]:
        """Return the ended call's session that knows this key, so that the request is not repeated; else the open one."""
        if key is not None:
            for session in self._before:
                if known(session, caller, key):
                    return session
        return self._open_session()

    def _open_session(self) -> Session[S, C]:
        if self._session is None:
            raise Forbidden(self._closed)
        return self._session

    @property
    def _closed(self) -> str:
        noun = self._spec.noun
        return f"No {noun} is open yet. Call hello first; if you have, try again in a moment."


def read_command(
    spec: PageSpec[S, C], written: Mapping[str, JsonValue], caller: Caller
) -> Command[S, C]:
    """Parse a command by its ``op``.

    Raises:
        BadParams: It has no ``op``, or a field is missing, unknown or invalid.
        UnknownOperation: There is no such client command.
        Forbidden: The caller's role may not send it.
    """
    op = written.get("op")
    if not isinstance(op, str):
        raise wrong("command.op", "missing", "Say which command it is.")
    possible = spec.ops_of.get(caller.role or "", {})
    if (kind := possible.get(op)) is None:
        if op in spec.ops:
            raise objects.not_allowed(spec, spec.ops[op])
        raise UnknownOperation(
            f"There is no such command. Possible are {', '.join(possible)}.",
            field="command.op",
            possible=[*possible],
        )
    return part(kind, written, at="command")
