"""Tools that outlast their reply: they run on while the conversation goes on.

The user is told to wait at once. The result comes in a reply of its own, by whichever agent is active
then, and stays with the next reply until one that was shown it has been spoken to its end. Start and
end are rows of the journal, so a call that is resumed asks again what was not told.
"""

import asyncio
import logging
from dataclasses import dataclass
from uuid import uuid4

from livekit.agents import Agent as LivekitAgent
from livekit.agents.voice import SpeechHandle
from pydantic import JsonValue, ValidationError

from agents.handoff.call_base import AnyCall
from agents.handoff.carry import note
from agents.handoff.consent import Consent
from agents.handoff.events import ToolUsed
from agents.handoff.failures import NOT_DONE, code_of
from agents.handoff.livekit_workarounds import is_cancelled
from agents.handoff.model_reply import Reply
from agents.handoff.output_redactor import replace_lone_surrogates, without_instruction_tags
from agents.handoff.replies import Replies
from agents.handoff.speech import UserSpeech
from agents.handoff.tools import SlowAction, output_text, tool_name
from agents.handoff.user_turns import UserTurns
from state.shared import Basis, EndTool, StartTool, StateError

logger = logging.getLogger(__name__)

STARTED = "Started; the result will follow. The user is told: {wait} Go on meanwhile, and do not call it again."

STILL_RUNNING = "Started before, and not answered yet. The result will follow."
"""Told to an agent that takes over meanwhile."""

CUT_OFF = "It is not known how it ended: the call was cut off meanwhile. Tell the user."
"""The result of a tool that cannot be asked again."""

_ARRIVED = "The result of {names} has arrived. Tell the user."


@dataclass(eq=False)
class _ToolResult:
    """A result that the user has not been told."""

    key: str
    name: str
    text: str
    requested: bool = False  # a reply of its own
    shown_to: LivekitAgent | None = None  # the agent whose history has it


@dataclass(eq=False)
class _RunningTool:
    """A tool that is running."""

    name: str
    shown_to: LivekitAgent | None = None  # the last agent whose history says so


class SlowTools:
    """The slow tools of one call, and their results until the user has been told."""

    def __init__(
        self,
        call: AnyCall,
        replies: Replies,
        turns: UserTurns,
        user_speech: UserSpeech,
        consent: Consent,
    ) -> None:
        self._call, self._replies = call, replies
        self._turns, self._user_speech, self._consent = turns, user_speech, consent
        self._left = call.shared.unfinished
        self._running: dict[asyncio.Task[None], _RunningTool] = {}
        self._telling: set[asyncio.Task[None]] = set()
        self._results: list[_ToolResult] = []
        self._shown: dict[SpeechHandle, tuple[_ToolResult, ...]] = {}
        self._storing: set[asyncio.Task[None]] = set()
        replies.tell_with_replies(self)
        call.at_end(self._cancel)

    async def told(self) -> None:
        """Wait until nothing is running and the results have been told, or the call has ended."""
        while tasks := {*self._running, *self._telling}:
            await asyncio.wait(tasks)
        await self._turns.wait_for_turn()

    async def start(self, action: SlowAction, raw: dict[str, object], reply: Reply) -> str:
        """Store that a tool has been called, start it, and have the user told to wait.

        Raises:
            StateError: It could not be stored, so it has not been started.
        """
        call, name = self._call, tool_name(type(action))
        key = uuid4().hex
        arguments: dict[str, JsonValue] = action.model_dump(mode="json", exclude={"op"})
        async with call.time_limits.timeout(None):
            await call.shared.apply(
                StartTool(key=key, tool=name, arguments=arguments),
                actor=reply.agent,
                turn=reply.turn,
            )
        running = self._run_in_background(
            action, key, raw, reply.agent, Basis(reply.seen, reply.turn)
        )
        running.shown_to = call.session.current_agent  # its history has the call
        if action.wait not in reply.announced:
            reply.announced.add(action.wait)
            self._replies.speak(action.wait, about=name)
        return STARTED.format(wait=action.wait)

    def resume(self) -> None:
        """Repeat unfinished requests of an earlier process with the same keys, or report their loss."""
        left, self._left = self._left, ()
        tools = self._call.graph.slow_actions if left else {}
        for started in left:
            kind = tools.get(started.tool)
            try:
                if kind is None or not kind.repeats:
                    raise LookupError(started.tool)
                action = kind.model_validate({"op": started.tool, **started.arguments})
            except (LookupError, ValidationError):
                logger.warning("slow tool cannot be asked again", extra={"tool": started.tool})
                self._ended(started.key, started.tool, f"{NOT_DONE} cut_off: {CUT_OFF}")
            else:
                basis = Basis(self._call.shared.version, None)
                arguments: dict[str, object] = dict(started.arguments)
                self._run_in_background(
                    action, started.key, arguments, self._call.active.name, basis
                )

    def present(self, agent: LivekitAgent) -> str:
        """Show an agent what is running, and the results that the user has not been told.

        Returns:
            Its instructions for the results; empty for none.
        """
        for running in self._running.values():
            if running.shown_to is not agent:
                running.shown_to = agent
                agent._chat_ctx.insert(note(running.name, STILL_RUNNING))
        for result in self._results:
            if result.shown_to is not agent:
                result.shown_to = agent
                agent._chat_ctx.insert(note(result.name, result.text))
        names = " and ".join(dict.fromkeys(result.name for result in self._results))
        return _ARRIVED.format(names=names) if names else ""

    def told_by(self, speech: SpeechHandle) -> None:
        """Note which results a reply has been shown."""
        if self._results:
            self._shown[speech] = tuple(self._results)

    def reply_ended(self, speech: SpeechHandle, *, spoken: bool) -> None:
        """Count the results that a reply was shown as told, if it was spoken to its end.

        Args:
            speech: The reply.
            spoken: Whether it has said something that its model returned.
        """
        left = [result for result in self._shown.pop(speech, ()) if result in self._results]
        if left and speech.interrupted:  # once more, unless the answer to the user tells it
            for result in left:
                result.requested = False
            self._tell_when_quiet()
        elif spoken:
            for result in left:
                self._results.remove(result)
                # Not the call's task: the call may end first, and must not tell it again then.
                task = asyncio.get_running_loop().create_task(self._store_end(result.key))
                self._storing.add(task)
                task.add_done_callback(self._storing.discard)
        # A model that failed has cost an apology; the next reply tells it.

    def _cancel(self) -> None:
        """Cancel what is running: the call is over."""
        for task in tuple(self._running):
            task.cancel()

    async def aclose(self) -> None:
        """Wait until it is stored what the user has been told; the journal limits how long."""
        if self._storing:
            await asyncio.wait(self._storing)

    def _run_in_background(
        self, action: SlowAction, key: str, raw: dict[str, object], agent: str, basis: Basis
    ) -> _RunningTool:
        action._key = key
        task = self._call.spawn(self._run(action, key, raw, agent, basis))
        running = self._running[task] = _RunningTool(tool_name(type(action)))
        task.add_done_callback(self._running.pop)
        return running

    async def _run(
        self, action: SlowAction, key: str, raw: dict[str, object], agent: str, basis: Basis
    ) -> None:
        call, name = self._call, tool_name(type(action))
        output, failure = "", ""
        try:
            result = await call.time_limits.run_with_timeout(
                action.run(call), action.limit_s, basis
            )
            self._consent.succeeded(action)
            output = output_text(result)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # the user is told whatever a tool raises
            if is_cancelled(error) or not call.listening:
                return  # the call is over; one that is resumed asks again
            failure = self._call.describe_failure(error, NOT_DONE, name)
        text = replace_lone_surrogates(failure or output)
        call.emit(ToolUsed(self._turns.turn, agent, name, raw, text, is_error=bool(failure)))
        self._ended(key, name, text)

    def _ended(self, key: str, name: str, text: str) -> None:
        self._results.append(_ToolResult(key, name, without_instruction_tags(text)))
        self._tell_when_quiet()

    def _tell_when_quiet(self) -> None:
        task = self._call.spawn(self._tell())
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell(self) -> None:
        """Request a reply of its own for new results, once no one is speaking."""
        call = self._call
        await self._user_speech.quiet()
        fresh = [result for result in self._results if not result.requested]
        if fresh and call.listening and call.closing is None:
            for result in fresh:
                result.requested = True
            try:
                self._replies.request(())
            except RuntimeError:  # the session is closing
                logger.debug("result not told: the session is closing")

    async def _store_end(self, key: str) -> None:
        try:
            await self._call.shared.apply(EndTool(key=key), actor=self._call.active.name)
        except StateError as error:  # a resumed call would ask again, and tell again
            logger.warning("end of a slow tool not stored", extra={"code": code_of(error)})
