"""What happens when a model calls a tool."""

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
from agents.handoff.guards import is_cancelled
from agents.handoff.outgoing import encodable
from agents.handoff.reply import Reply
from agents.handoff.tools import Action, Read, Tool, given, tool_name
from state.shared import Applied, Basis, Command, Refused

if TYPE_CHECKING:
    from agents.handoff.call import Call

logger = logging.getLogger(__name__)

DONE, NOTHING_FOUND = "Done.", "There is no answer to that."
"""What a model is told where the application says nothing."""

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


class ToolUse(Generic[S, C]):
    """Carries out the tool calls of one call, each whole or not at all.

    Args:
        call: The call they are made in.
    """

    def __init__(self, call: "Call[S, C]") -> None:
        self.last_things = asyncio.Lock()
        """Held while one of the things that go last in a reply is decided."""
        self._call = call
        self._done_in: dict[str, int] = {}

    async def use(self, tool: Tool, raw: dict[str, object], context: RunContext[Any]) -> Any:
        """Carry out one tool call, tell the truth about it, and never raise anything but ToolError."""
        call = self._call
        call_id = context.function_call.call_id
        reply = call.reply_of(call_id)
        output, failure = "", "cancelled"
        # What a command did is known for sure; an action may have changed the state before it failed.
        began = call.changes
        try:
            output = encodable(await self._carry_out(tool, raw, reply, call_id))
            failure = ""
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # whatever a tool raises, its model is told
            if is_cancelled(error):
                raise
            changed = issubclass(tool, Action) and began != call.changes
            lead = NOT_FINISHED if changed else NOT_DONE
            failure = call.failure(error, lead, tool_name(tool))
        finally:
            reply.answered(call_id, failure or None)
            call.tell(
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
        if issubclass(tool, Action) and tool.goes_last and reply.spoke:
            return ToolResult(output, reply_required=False)
        return output

    async def after_siblings(self, reply: Reply, call_id: str) -> None:
        """Wait for everything else in a reply, and refuse what is not to happen after it.

        Raises:
            Refused: A handoff is under way, or something else in the reply was not done.
        """
        call = self._call
        try:
            while reply.at_work:
                # Each by itself: on a slow disk twelve changes may take longer than one tool may.
                async with call.limits.within(call.policy.tool_limit_s):
                    await reply.one_answers()
        except TimeoutError:
            raise SiblingFailed(
                "Something else in this reply has not ended. Tell the guest."
            ) from None
        if call.going_to is not None:
            raise HandoffTaken(f"The guest is already being handed over to {call.going_to}.")
        reply.refuse_cut(call_id)
        if reply.failed is not None:
            raise SiblingFailed(
                f"Something else in this reply was not done; tell the guest. {reply.failed}"
            )

    async def _carry_out(
        self, tool: Tool, raw: dict[str, object], reply: Reply, call_id: str
    ) -> str:
        call = self._call
        reply.refuse_cut(call_id)
        made = tool.model_validate({"op": tool_name(tool), **given(raw, tool)})
        if isinstance(made, Command):
            op = made.op
            # A command has no work of its own to be limited: only others' changes, which the state limits.
            async with call.limits.within(None):
                applied = await call.shared.apply(
                    made,
                    actor=reply.agent,
                    seen=reply.seen,
                    turn=reply.turn,
                    provided=lambda state: self._unasked(op, reply.agent),
                )
            reply.wrote.add(applied.version)
            call.last_refusal = None
            self._done_in[made.op] = call.turn
            return self._told(applied, made)
        if isinstance(made, Read):
            return _output(made.answer(call.shared.state, call.shared.context), NOTHING_FOUND)
        if not made.goes_last:
            basis = Basis(reply.seen, reply.turn)
            try:
                return await self._run(made, basis)
            finally:
                reply.wrote |= basis.own
        async with self.last_things:
            await self.after_siblings(reply, call_id)
            # It is meant to follow what the others of its reply have done.
            return await self._run(made, Basis(reply.seen, reply.turn, own=reply.wrote))

    async def _run(self, action: Action, basis: Basis) -> str:
        call = self._call
        output = await call.limits.carried_out(action.run(call), call.policy.tool_limit_s, basis)
        return _output(output, DONE)

    def _told(self, applied: Applied[S], command: Command[S, C]) -> str:
        try:
            told: object = self._call.policy.describe_result(applied, command)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException:  # it has been done: whatever fails now must not say that it was not
            logger.exception("a change could not be told", extra={"op": command.op})
            return DONE
        return _words(told)

    def _unasked(self, op: str, agent: str) -> Refused | None:
        """Refuse what is an answer of the user's while the user has not been asked."""
        for told in self._call.graph.agents[agent].needs_answer.get(op, ()):
            if self._done_in.get(told) == self._call.turn:
                return NotAnswered(
                    f"The guest has not answered yet to what {told} brought. Tell it, and wait.",
                    needs=told,
                )
        return None


def _words(given: object, otherwise: str = DONE) -> str:
    """Return what the application says of a change, if it is a text that says something."""
    return given if isinstance(given, str) and given.strip() else otherwise


def _output(given: object, otherwise: str) -> str:
    """Return what a tool of the application answered: a text, or data that livekit would show as one."""
    data = isinstance(given, bool | int | float | list | tuple | dict)
    return _words(str(given) if data else given, otherwise)
