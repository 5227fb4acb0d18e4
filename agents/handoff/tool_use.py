"""Runs the tool calls of a model: at once, in the background, or only after the user's yes."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from livekit.agents import Agent as LivekitAgent
from livekit.agents import RunContext, ToolError
from livekit.agents.llm import ToolResult
from livekit.agents.voice import SpeechHandle
from pydantic import BaseModel, JsonValue, ValidationError

from agents.handoff.call_base import AnyCall
from agents.handoff.carry import note
from agents.handoff.events import StateChanged, ToolUsed
from agents.handoff.failures import (
    NOT_DONE,
    NOT_FINISHED,
    HandoffTaken,
    NotAnswered,
    SiblingFailed,
    code_of,
    invalid_data,
)
from agents.handoff.livekit_workarounds import current_speech, is_cancelled
from agents.handoff.model_output import Reply, replace_lone_surrogates, without_instruction_tags
from agents.handoff.replies import Replies
from agents.handoff.speech.user_speech import UserSpeech
from agents.handoff.tools import (
    DONE,
    NOTHING_FOUND,
    Action,
    Read,
    SlowAction,
    Tool,
    drop_nulls,
    output_text,
    text_or,
    tool_name,
)
from agents.handoff.user_turns import UserTurns
from state.shared import FRAMEWORK_COMMANDS, Applied, Basis, Command, EndTool, StartTool, StateError

logger = logging.getLogger(__name__)


class Consent:
    """Makes tools of one call wait for the user's answer, as ``Agent.needs_answer`` lists them.

    It knows in which turn a tool has succeeded or was first called.
    """

    def __init__(self, call: AnyCall, turns: UserTurns) -> None:
        self._call, self._turns = call, turns
        self._done_in: dict[str, int] = {}
        self._asked_in: dict[tuple[str, str], int] = {}
        self._take_untold: Callable[[str], str] = lambda tool: ""

    def use_untold(self, take_untold: Callable[[str], str]) -> None:
        """Ask a function for a tool's result that the user has not been told; empty for none."""
        self._take_untold = take_untold

    def succeeded(self, made: BaseModel) -> None:
        """Note that a tool has succeeded."""
        op = tool_name(type(made))
        self._done_in[op] = self._turns.turn
        self._asked_in.pop((op, made.model_dump_json()), None)

    def needed(self, made: Command[Any, Any] | Action, reply: Reply) -> tuple[str, ...]:
        """Return the tools that the user has to answer before this one."""
        return self._call.graph.agents[reply.agent].needs_answer.get(made.op, ())

    def missing(self, made: Command[Any, Any] | Action, reply: Reply) -> NotAnswered | None:
        """Return the refusal of a call that needs the user's answer and has not had it yet.

        The turn that its reply was shown decides: a reply under way while the user speaks does not
        know their new words.
        """
        for earlier in self.needed(made, reply):
            if earlier == made.op:
                asked = self._asked_in.setdefault(
                    (made.op, made.model_dump_json()), self._turns.turn
                )
                if asked >= reply.turn:
                    return NotAnswered(
                        "The user has not said yes to this yet. Tell them what you would do, and"
                        " make the same call again once they have said yes.",
                        needs=earlier,
                    )
            elif self._done_in.get(earlier, -1) >= reply.turn:
                # A result that came while the model was replying is in none of its messages.
                untold = self._take_untold(earlier)
                told = "Tell them the result" + (
                    f', which has just come: "{untold}"' if untold else ""
                )
                return NotAnswered(
                    f"The user has not answered the result of {earlier} yet. {told}, and"
                    " wait for their answer.",
                    needs=earlier,
                )
        return None

    def refuse_unanswered(self, action: Action, reply: Reply) -> None:
        """Refuse an action that needs the user's answer and has not had it yet.

        Raises:
            NotAnswered: It has not.
        """
        if (missing := self.missing(action, reply)) is not None:
            raise missing


STARTED = "Started; the result will follow. The user is told: {wait} Go on meanwhile, and do not call it again."

STILL_RUNNING = "Started before, and not answered yet. The result will follow."
"""Told to an agent that takes over meanwhile."""

CUT_OFF = (
    "It may or may not have been done. cut_off: It is not known how {asked} ended: we were cut off"
    " meanwhile."
)
"""The result of a tool that cannot be asked again; a model may say its second sentence as it is."""

_ARRIVED = "The result of {names} has arrived. Tell the user."


@dataclass(eq=False)
class _ToolResult:
    """A result that the user has not been told."""

    key: str
    name: str
    text: str
    requested: bool = False  # whether a reply of its own has been requested
    shown_to: LivekitAgent | None = None  # the agent whose history has it


@dataclass(eq=False)
class _RunningTool:
    """A tool that is running."""

    name: str
    shown_to: LivekitAgent | None = None  # the last agent whose history says so


class SlowTools:
    """The tools of one call that outlast their reply, and their results until the user has been told.

    The user is told to wait at once, and the conversation goes on. The result comes in a reply of its
    own, by whichever agent is active then. Every further reply is shown it, until one of them has
    been spoken to its end. Start and end are rows of the journal, so a resumed call repeats each
    request whose result was not told.
    """

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
        consent.use_untold(self._show_in_reply)
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
                self._ended(
                    started.key, started.tool, CUT_OFF.format(asked=started.tool.replace("_", " "))
                )
            else:
                basis = Basis(self._call.shared.version, None)
                arguments: dict[str, object] = dict(started.arguments)
                self._run_in_background(
                    action, started.key, arguments, self._call.active.name, basis
                )

    def present(self, agent: LivekitAgent) -> str:
        """Show an agent the running tools, and the results that the user has not been told.

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

    def _show_in_reply(self, name: str) -> str:
        """Return the results of a tool that the user has not been told; the reply under way tells them."""
        speech = current_speech()
        shown = self._shown.get(speech, ()) if speech is not None else ()
        results = [one for one in self._results if one.name == name and one not in shown]
        if speech is None or not results:
            return ""
        self._shown[speech] = (*shown, *results)
        return " ".join(result.text for result in results)

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
        # If the model failed, an apology was spoken instead; the next reply tells the result.

    def _cancel(self) -> None:
        """Cancel the running tools: the call is over."""
        for task in tuple(self._running):
            task.cancel()

    async def aclose(self) -> None:
        """Wait until the told results are stored as told; the journal limits how long."""
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


_NO_CHANGE = frozenset(kind.model_fields["op"].default for kind in FRAMEWORK_COMMANDS)
"""The ops of commands that change no state."""


class ToolUse:
    """Runs the tool calls of one call, each completely or not at all, and reports state changes."""

    def __init__(
        self,
        call: AnyCall,
        replies: Replies,
        turns: UserTurns,
        user_speech: UserSpeech,
    ) -> None:
        self._call, self._replies, self._turns = call, replies, turns
        self._consent = Consent(call, turns)
        self.slow_tools = SlowTools(call, replies, turns, user_speech, self._consent)
        self.final_tools_lock = asyncio.Lock()
        """Held while a final tool or a transfer is decided."""
        self.changes = 0
        """The number of state changes in this call, the framework's own not counted."""
        call.at_end(call.shared.subscribe(self._state_changed))

    async def use(self, tool: Tool, raw: dict[str, object], context: RunContext[Any]) -> Any:
        """Run one tool call and report its true outcome; raises nothing but ``ToolError``."""
        call, turns = self._call, self._turns
        call_id = context.function_call.call_id
        reply = self._replies.reply_of(call_id)
        output, failure = "", "cancelled"
        slow = issubclass(tool, SlowAction)
        # A command's outcome is certain; an action may have changed the state before it failed.
        began = self.changes
        try:
            output = replace_lone_surrogates(await self._execute(tool, raw, reply, call_id))
            failure = ""
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # the model is told whatever a tool raises
            if is_cancelled(error):
                raise
            if isinstance(error, ValidationError) and error.title != tool.__name__:
                # Its arguments are valid; a value that the application made of them is not.
                logger.error(
                    "tool %s made invalid data", tool_name(tool), exc_info=invalid_data(error)
                )
            changed = issubclass(tool, Action) and began != self.changes
            lead = NOT_FINISHED if changed else NOT_DONE
            failure = self._call.describe_failure(error, lead, tool_name(tool))
        finally:
            reply.tool_ended(call_id, failure or None)
            if failure or not slow:  # a slow one ends later
                name, text = tool_name(tool), failure or output
                call.emit(
                    ToolUsed(turns.turn, reply.agent, name, raw, text, is_error=bool(failure))
                )
        if failure:
            raise ToolError(failure)
        if slow or (issubclass(tool, Action) and tool.goes_last and reply.spoke):
            return ToolResult(output, reply_required=False)
        return output

    async def wait_for_siblings(self, reply: Reply, call_id: str) -> None:
        """Wait for a reply's other tools; refuse a final one that must not follow them.

        Raises:
            Refused: A handoff is pending, or another tool of the reply failed.
        """
        call = self._call
        try:
            while reply.tools_running:
                # Each wait has its own timeout: on a slow disk twelve changes may exceed one.
                async with call.time_limits.timeout(call.policy.tool_limit_s):
                    await reply.next_tool_ended()
        except TimeoutError:
            raise SiblingFailed(
                "Something else in this reply has not ended. Tell the user."
            ) from None
        if (pending := call.active.pending) is not None:
            raise HandoffTaken(f"The user is already being handed over to {pending.target}.")
        reply.refuse_truncated(call_id)
        if reply.failed is not None:
            raise SiblingFailed(
                f"Something else in this reply was not done; tell the user. {reply.failed}"
            )

    def _state_changed(self, applied: Applied[Any]) -> None:
        if not _NO_CHANGE.issuperset(applied.ops):
            self.changes += 1
        self._call.emit(StateChanged(self._turns.turn, applied.version, applied.ops, applied.state))

    async def _execute(self, tool: Tool, raw: dict[str, object], reply: Reply, call_id: str) -> str:
        call = self._call
        reply.refuse_truncated(call_id)
        made = tool.model_validate({"op": tool_name(tool), **drop_nulls(raw, tool)})
        if isinstance(made, Command):
            # No timeout: a command only waits for other changes, which the state limits.
            async with call.time_limits.timeout(None):
                applied = await call.shared.apply(
                    made,
                    actor=reply.agent,
                    seen=reply.seen,
                    turn=reply.turn,
                    provided=lambda state: self._consent.missing(made, reply),
                )
            reply.wrote.add(applied.version)
            self._call.active.refused(None)
            self._consent.succeeded(made)
            return self._describe_result(applied, made)
        if isinstance(made, Read):
            output = output_text(made.answer(call.shared.state, call.shared.context), NOTHING_FOUND)
            self._consent.succeeded(made)
            return output
        if not made.goes_last:
            # Calls before it in its reply that the user would have to answer first. Commands need not
            # wait for them: they are applied in the order of their calls.
            earlier = self._consent.needed(made, reply)
            async with call.time_limits.timeout(call.policy.tool_limit_s):
                while reply.runs_before(call_id, earlier):
                    await reply.next_tool_ended()
            if isinstance(made, SlowAction):
                self._consent.refuse_unanswered(made, reply)
                return await self.slow_tools.start(made, raw, reply)
            basis = Basis(reply.seen, reply.turn)
            try:
                return await self._run(made, reply, basis)
            finally:
                reply.wrote |= basis.own
        async with self.final_tools_lock:
            await self.wait_for_siblings(reply, call_id)
            # It may follow the changes its siblings have made.
            return await self._run(made, reply, Basis(reply.seen, reply.turn, own=reply.wrote))

    async def _run(self, action: Action, reply: Reply, basis: Basis) -> str:
        call = self._call
        self._consent.refuse_unanswered(action, reply)
        output = await call.time_limits.run_with_timeout(
            action.run(call), call.policy.tool_limit_s, basis
        )
        self._consent.succeeded(action)
        return output_text(output)

    def _describe_result(self, applied: Applied[Any], command: Command[Any, Any]) -> str:
        try:
            description: object = self._call.policy.describe_result(applied, command)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException:  # the change is committed: a failure here must not deny it
            logger.exception("policy.describe_result failed", extra={"op": command.op})
            return DONE
        return text_or(description)
