"""What the restaurant really sends to a provider: tools that are taken, and the order as data."""

import json

from agents.handoff import DATA_MARK
from agents.roster import restaurant_graph
from tests.agents.app.models.openai.talking import WHOLE_ORDER, script, talking
from tests.agents.handoff.strict_rules import offences


async def test_every_request_of_a_whole_order_keeps_the_rules() -> None:
    async with talking(script()) as (talk, server):
        for words, _ in WHOLE_ORDER:
            await talk.user_says(words)

    graph = restaurant_graph()
    prompts = {agent.prompt: name for name, agent in graph.agents.items()}
    spoke: set[str] = set()
    offered: set[str] = set()
    for request in server.requests:
        assert offences(request.get("tools", [])) == []
        assert request["stream"] is True
        assert request["stream_options"] == {"include_usage": True}
        system = [
            message["content"] for message in request["messages"] if message["role"] == "system"
        ]
        spoke.add(next(name for prompt, name in prompts.items() if system[0].startswith(prompt)))
        assert not any(DATA_MARK in text for text in system)
        shown = [m for m in request["messages"] if DATA_MARK in json.dumps(m.get("content"))]
        assert [message["role"] for message in shown] == ["user"]
        offered |= {tool["function"]["name"] for tool in request.get("tools", [])}
    assert spoke == set(graph.agents)
    assert {"add_item", "place_order", "give_feedback", "transfer_to_payment"} <= offered


async def test_calls_and_their_results_stay_together() -> None:
    async with talking(script()) as (talk, server):
        for words, _ in WHOLE_ORDER:
            await talk.user_says(words)

    pairs = 0
    for request in server.requests:
        open_calls: list[str] = []
        for message in request["messages"]:
            if message["role"] == "tool":
                open_calls.remove(message["tool_call_id"])
                pairs += 1
                continue
            assert open_calls == []
            open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        assert open_calls == []
    assert pairs
