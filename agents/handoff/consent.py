"""Tools that wait for the user's answer, as ``Agent.needs_answer`` lists them."""

from typing import Any

from pydantic import BaseModel

from agents.handoff.call_base import AnyCall
from agents.handoff.failures import NotAnswered
from agents.handoff.model_reply import Reply
from agents.handoff.tools import Action, tool_name
from agents.handoff.user_turns import UserTurns
from state.shared import Command


class Consent:
    """Knows in which turn a tool of one call has succeeded or been asked for."""

    def __init__(self, call: AnyCall, turns: UserTurns) -> None:
        self._call, self._turns = call, turns
        self._done_in: dict[str, int] = {}
        self._asked_in: dict[tuple[str, str], int] = {}

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

        What counts is the turn that its reply was shown: a reply under way while the user speaks
        does not know what they say.
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
                return NotAnswered(
                    f"The user has not answered yet to what {earlier} brought. Tell it, and wait.",
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
