"""What a hand-written agent hands to the next one: the last words, without tool traffic."""

from livekit.agents import Agent
from livekit.agents.llm import ChatContext

LAST = 6


def carried(agent: Agent) -> ChatContext:
    """Copy the end of an agent's history for the one that takes over."""
    context = agent.chat_ctx.copy(
        exclude_instructions=True,
        exclude_handoff=True,
        exclude_config_update=True,
        exclude_function_call=True,
    )
    return context.truncate(max_items=LAST)
