"""Runs the tool calls of a model."""

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from livekit.agents import RunContext, ToolError
from livekit.agents.llm import ToolResult
from pydantic import BaseModel

from agents.handoff.events import ToolUsed
from agents.handoff.failures import (
    NOT_DONE,
    NOT_FINISHED,
    HandoffTaken,
    NotAnswered,
    SiblingFailed,
)
from agents.handoff.livekit_workarounds import is_cancelled
from agents.handoff.output_redactor import replace_lone_surrogates
from agents.handoff.reply import Reply
from agents.handoff.tools import Action, Read, SlowAction, Tool, drop_nulls, tool_name
from state.shared import Applied, Basis, Command, Refused

if TYPE_CHECKING:
    from agents.handoff.call import Call

logger = logging.getLogger(__name__)

DONE, NOTHING_FOUND = "Done.", "There is no answer to that."
"""What a model is told if the application returns no text."""

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


class ToolUse(Generic[S, C]):
    """Runs the tool calls of one call, each completely or not at all.

    Args:
        call: The call they are made in.
    """

    def __init__(self, call: "Call[S, C]") -> None:
        self.final_tools_lock = asyncio.Lock()
        """Held while a final tool or a transfer is decided."""
        self._call = call
        self._done_in: dict[str, int] = {}
        self._asked_in: dict[tuple[str, str], int] = {}

    async def use(self, tool: Tool, raw: dict[str, object], context: RunContext[Any]) -> Any:
        """Run one tool call and report its true outcome; raises nothing but ``ToolError``."""
        call = self._call
        call_id = context.function_call.call_id
        reply = call.reply_of(call_id)
        output, failure = "", "cancelled"
        slow = issubclass(tool, SlowAction)
        # A command's outcome is certain; an action may have changed the state before it failed.
        began = call.changes
        try:
            output = replace_lone_surrogates(await self._execute(tool, raw, reply, call_id))
            failure = ""
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # the model is told whatever a tool raises
            if is_cancelled(error):
                raise
            changed = issubclass(tool, Action) and began != call.changes
            lead = NOT_FINISHED if changed else NOT_DONE
            failure = call.describe_failure(error, lead, tool_name(tool))
        finally:
            reply.tool_ended(call_id, failure or None)
            if failure or not slow:  # a slow one ends later
                call.emit(
                    ToolUsed(
                        turn=call.turn,
                        agent=reply.agent,
                        name=tool_name(tool),
                        arguments=raw,
                        output=failure or output,
                        is_error=bool(failure),
                    )
                )
        if failure:
            raise ToolError(failure)
        if slow:
            return ToolResult(output, reply_required=False)
        if issubclass(tool, Action) and tool.goes_last and reply.spoke:
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
        if call.handoff_target is not None:
            raise HandoffTaken(f"The user is already being handed over to {call.handoff_target}.")
        reply.refuse_truncated(call_id)
        if reply.failed is not None:
            raise SiblingFailed(
                f"Something else in this reply was not done; tell the user. {reply.failed}"
            )

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
                    provided=lambda state: self._missing_answer(made, reply),
                )
            reply.wrote.add(applied.version)
            call.last_refusal = None
            self._succeeded(made)
            return self._describe_result(applied, made)
        if isinstance(made, Read):
            output = _output(made.answer(call.shared.state, call.shared.context), NOTHING_FOUND)
            self._succeeded(made)
            return output
        if not made.goes_last:
            await self._wait_for_what_needs_an_answer(made, reply, call_id)
            if isinstance(made, SlowAction):
                self._refuse_unanswered(made, reply)
                return await call.slow_tools.start(made, raw, reply)
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
        self._refuse_unanswered(action, reply)
        output = await call.time_limits.run_with_timeout(
            action.run(call), call.policy.tool_limit_s, basis
        )
        return self.ended(action, output)

    def ended(self, action: Action, output: object) -> str:
        """Note that an action has succeeded; returns its result as text."""
        self._succeeded(action)
        return _output(output, DONE)

    def _refuse_unanswered(self, action: Action, reply: Reply) -> None:
        if (missing := self._missing_answer(action, reply)) is not None:
            raise missing

    async def _wait_for_what_needs_an_answer(
        self, action: Action, reply: Reply, call_id: str
    ) -> None:
        """Wait for calls before this one in its reply that the user would have to answer first.

        Commands need not: they are applied in the order of their calls.
        """
        earlier = self._needed(action, reply)
        async with self._call.time_limits.timeout(self._call.policy.tool_limit_s):
            while reply.runs_before(call_id, earlier):
                await reply.next_tool_ended()

    def _describe_result(self, applied: Applied[S], command: Command[S, C]) -> str:
        try:
            description: object = self._call.policy.describe_result(applied, command)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException:  # the change is committed: a failure here must not deny it
            logger.exception("policy.describe_result failed", extra={"op": command.op})
            return DONE
        return _text_or(description)

    def _succeeded(self, made: BaseModel) -> None:
        op = tool_name(type(made))
        self._done_in[op] = self._call.turn
        self._asked_in.pop((op, made.model_dump_json()), None)

    def _needed(self, made: Command[S, C] | Action, reply: Reply) -> tuple[str, ...]:
        return self._call.graph.agents[reply.agent].needs_answer.get(made.op, ())

    def _missing_answer(self, made: Command[S, C] | Action, reply: Reply) -> Refused | None:
        """Refuse a call that needs the user's answer as long as they have not spoken since.

        What counts is the turn that its reply was shown: a reply under way while the user speaks
        does not know what they say.
        """
        for earlier in self._needed(made, reply):
            if earlier == made.op:
                asked = self._asked_in.setdefault(
                    (made.op, made.model_dump_json()), self._call.turn
                )
                if asked >= reply.turn:
                    return NotAnswered(
                        "The user has not said yes to this yet. Tell them what you would do, and"
                        " make the same call again once they have said yes.",
                        needs=earlier,
                    )
            elif self._done_in.get(earlier, -1) >= reply.turn:
                return NotAnswered(
                    f"The user has not answered yet to what {earlier} brought. Tell it, and wait.",
                    needs=earlier,
                )
        return None


def _text_or(result: object, otherwise: str = DONE) -> str:
    """Return the application's text about a change, or a default if it is blank or no text."""
    return result if isinstance(result, str) and result.strip() else otherwise


def _output(result: object, otherwise: str) -> str:
    """Return a tool's result as text; data is formatted as livekit would."""
    data = isinstance(result, bool | int | float | list | tuple | dict)
    return _text_or(str(result) if data else result, otherwise)
