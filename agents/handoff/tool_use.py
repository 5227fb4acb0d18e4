"""Runs the tool calls of a model."""

import asyncio
import logging
from typing import Any

from livekit.agents import RunContext, ToolError
from livekit.agents.llm import ToolResult

from agents.handoff.call_base import AnyCall
from agents.handoff.consent import Consent
from agents.handoff.events import StateChanged, ToolUsed
from agents.handoff.failures import NOT_DONE, NOT_FINISHED, HandoffTaken, SiblingFailed
from agents.handoff.livekit_workarounds import is_cancelled
from agents.handoff.model_reply import Reply
from agents.handoff.output_redactor import replace_lone_surrogates
from agents.handoff.replies import Replies
from agents.handoff.slow_tools import SlowTools
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
from state.shared import FRAMEWORK_COMMANDS, Applied, Basis, Command

logger = logging.getLogger(__name__)

_NO_CHANGE = frozenset(kind.model_fields["op"].default for kind in FRAMEWORK_COMMANDS)
"""The ops of commands that change no state."""


class ToolUse:
    """Runs the tool calls of one call, each completely or not at all, and reports state changes."""

    def __init__(
        self,
        call: AnyCall,
        replies: Replies,
        turns: UserTurns,
        consent: Consent,
        slow_tools: SlowTools,
    ) -> None:
        self._call, self._replies = call, replies
        self._turns, self._consent, self._slow_tools = turns, consent, slow_tools
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
            await self._wait_for_what_needs_an_answer(made, reply, call_id)
            if isinstance(made, SlowAction):
                self._consent.refuse_unanswered(made, reply)
                return await self._slow_tools.start(made, raw, reply)
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

    async def _wait_for_what_needs_an_answer(
        self, action: Action, reply: Reply, call_id: str
    ) -> None:
        """Wait for calls before this one in its reply that the user would have to answer first.

        Commands need not: they are applied in the order of their calls.
        """
        earlier = self._consent.needed(action, reply)
        async with self._call.time_limits.timeout(self._call.policy.tool_limit_s):
            while reply.runs_before(call_id, earlier):
                await reply.next_tool_ended()

    def _describe_result(self, applied: Applied[Any], command: Command[Any, Any]) -> str:
        try:
            description: object = self._call.policy.describe_result(applied, command)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException:  # the change is committed: a failure here must not deny it
            logger.exception("policy.describe_result failed", extra={"op": command.op})
            return DONE
        return text_or(description)
