"""What any agent can do beside the state."""

from typing import Any, ClassVar, Literal

from agents.handoff.call import Call
from agents.handoff.tools import Action


class EndCall(Action):
    """End the call, when the guest says goodbye or wants nothing more. Then say goodbye in one sentence."""

    op: Literal["end_call"] = "end_call"

    goes_last: ClassVar[bool] = True

    async def run(self, call: Call[Any, Any]) -> str:
        """Let the goodbye be the last thing said."""
        call.close_after_reply("agent_ended")
        return "The call ends after your next sentence: say goodbye."
