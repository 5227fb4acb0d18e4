"""A history as a realtime conversation takes it: its instructions apart, items by the provider's ids."""

from livekit.agents.llm import (
    ChatContext,
    ChatItem,
    ChatMessage,
    FunctionCall,
    RawFunctionTool,
    Tool,
    function_tool,
)


def split_instructions(context: ChatContext) -> tuple[str, ChatContext]:
    """Return the instructions a history begins with, and the rest of it."""
    items, texts = list(context.items), []
    while items and _is_system(items[0]):
        first = items.pop(0)
        texts.append(first.text_content if isinstance(first, ChatMessage) else None)
    return "\n\n".join(filter(None, texts)), ChatContext(items)


def _is_system(item: ChatItem) -> bool:
    return item.type == "message" and item.role in ("system", "developer")


def plain_tool(tool: Tool) -> Tool:
    """Return a tool without what the realtime API refuses: it knows no strict schemas."""
    if not isinstance(tool, RawFunctionTool) or "strict" not in tool.info.raw_schema:
        return tool
    schema = {name: value for name, value in tool.info.raw_schema.items() if name != "strict"}

    async def never(raw_arguments: dict[str, object]) -> None:
        raise NotImplementedError  # the agent's own tool is run

    return function_tool(never, raw_schema=schema)


def aligned(wanted: ChatContext, remote: ChatContext) -> ChatContext:
    """Return a history whose items have the provider's ids where it has the same ones already.

    Audio counts as the same as its transcripts: it stays in the conversation. Everything else that
    the provider has and the history has not will be deleted.
    """
    known = {item.id for item in wanted.items}
    own = [item for item in remote.items if item.id not in known]  # made by the provider
    items: list[ChatItem] = []
    for item in wanted.items:
        if item.type not in ("message", "function_call", "function_call_output"):
            continue
        found = _same(item, own)
        if found:
            own = own[own.index(found[-1]) + 1 :]
        items.extend(found or [item])
    return ChatContext(items)


def _same(item: ChatItem, own: list[ChatItem]) -> list[ChatItem]:
    """Return the provider's items that are the same as one of ours; empty for none."""
    if isinstance(item, FunctionCall):
        made = (item.call_id, item.name, item.arguments)
        for call in own:
            if isinstance(call, FunctionCall) and (call.call_id, call.name, call.arguments) == made:
                return [call]
        return []
    if not isinstance(item, ChatMessage):
        return []
    text = item.text_content or ""
    messages = [one for one in own if isinstance(one, ChatMessage) and one.role == item.role]
    for at in range(len(messages)):
        joined, run = "", list[ChatItem]()
        for one in messages[at:]:
            run.append(one)
            joined = f"{joined} {(one.text_content or '').strip()}".strip()
            if joined == text.strip():
                return run
            if item.role != "user" or not text.startswith(joined):
                break
    return []
