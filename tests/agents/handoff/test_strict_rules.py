"""Every tool of every agent is one that OpenAI's strict function calling takes."""

import copy
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from livekit.agents.llm import ToolContext
from pydantic import AnyUrl, BaseModel, ConfigDict, EmailStr, Field

from agents.handoff import Graph, Read, Tool, tool_of
from agents.roster import restaurant_graph
from agents.testing import Conversation, ScriptedLLM, calls, says
from tests.agents.handoff.strict_rules import offences
from tests.agents.hotel import Stay, hotel, hotel_graph


def sent(tools: Any) -> list[dict[str, Any]]:
    """Return tools as a request to OpenAI holds them."""
    return ToolContext(tools).parse_function_tools("openai", strict=True)


@pytest.mark.parametrize(
    ("graph", "name"),
    [
        pytest.param(graph, name, id=name)
        for graph in (restaurant_graph(), hotel_graph())
        for name in graph.agents
    ],
)
def test_a_voices_tools_keep_every_rule(graph: Graph[Any], name: str) -> None:
    tools = sent(graph.agent(name).tools)

    assert offences(tools) == []
    assert len(tools) == len(graph.offers(name)) + len(graph.leaving(name))


class Guest(BaseModel):
    """One guest."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=80)]
    born: datetime | None = None


class Everything(Read[Stay, None]):
    """Uses schema keywords of pydantic that strict calling does not accept."""

    op: Literal["everything"] = "everything"
    price: Decimal
    page: AnyUrl
    mail: EmailStr | None
    key: UUID
    tags: frozenset[str] = frozenset()
    few: Annotated[tuple[Guest, ...], Field(max_length=3)] = ()
    mixed: Literal["a", 1, None] = "a"
    size: Literal["small", "large"] | None = None
    share: Annotated[float, Field(gt=0, lt=1, multiple_of=0.25)] = 0.5
    first: Guest

    def answer(self, state: Stay, context: None) -> str:
        return f"{self.mail} {self.size}"


def test_schemas_of_pydantic_become_strict_schemas() -> None:
    assert offences(sent([tool_of(Everything)])) == []


class Counts(Read[Stay, None]):
    """Takes how many there are of each."""

    op: Literal["counts"] = "counts"
    counts: dict[str, int]

    def answer(self, state: Stay, context: None) -> str:
        return f"{sum(self.counts.values())} in all."


class Pair(Read[Stay, None]):
    """Takes a pair."""

    op: Literal["pair"] = "pair"
    pair: tuple[str, int]

    def answer(self, state: Stay, context: None) -> str:
        return f"{self.pair[0]} {self.pair[1]}."


class Branch(BaseModel):
    """Contains itself."""

    name: str
    branches: list["Branch"] = []


class Tree(Read[Stay, None]):
    """Takes a tree."""

    op: Literal["tree"] = "tree"
    root: Branch

    def answer(self, state: Stay, context: None) -> str:
        return f"{self.root.name} with {len(self.root.branches)}."


class Whatever(Read[Stay, None]):
    """Takes anything."""

    op: Literal["whatever"] = "whatever"
    thing: Any

    def answer(self, state: Stay, context: None) -> str:
        return f"{self.thing}."


FREE: list[tuple[Tool, dict[str, Any], str]] = [
    (Counts, {"counts": {"towels": 2, "robes": 1}}, "3 in all."),
    (Pair, {"pair": ["room", 12]}, "room 12."),
    (Tree, {"root": {"name": "oak", "branches": [{"name": "twig"}]}}, "oak with 1."),
    (Whatever, {"thing": "this"}, "this."),
]


@pytest.mark.parametrize(("tool", "arguments", "answer"), FREE)
async def test_a_tool_that_strict_calling_cannot_express_is_offered_all_the_same(
    tool: Tool, arguments: dict[str, Any], answer: str
) -> None:
    """A schema that is wrongly called strict would have every request of its agent refused."""
    graph = hotel_graph()
    reception = graph.agents["reception"]
    offers = (*graph.offers("reception"), tool)
    other = type("Reception", (reception,), {"offers": offers})
    agents = (other, *(agent for name, agent in graph.agents.items() if name != "reception"))
    script = [says("Hello."), calls((tool.model_fields["op"].default, arguments)), says("So.")]

    async with Conversation(
        hotel(graph=Graph(agents, graph.handoffs, start="reception")), ScriptedLLM(script)
    ) as talk:
        turn = await talk.user_says("please")

    (schema,) = sent([tool_of(tool)])
    assert schema["function"]["strict"] is False
    assert "op" not in schema["function"]["parameters"]["properties"]
    assert [used.output for used in turn.tools] == [answer]


async def test_a_required_nullable_argument_can_be_null() -> None:
    graph = hotel_graph()
    reception = graph.agents["reception"]
    other = type("Reception", (reception,), {"offers": (*graph.offers("reception"), Everything)})
    agents = (other, *(agent for name, agent in graph.agents.items() if name != "reception"))
    arguments = {
        "price": "1.50",
        "page": "https://example.org",
        "mail": None,
        "key": "00000000-0000-4000-8000-000000000001",
        "tags": None,
        "size": None,
        "first": {"name": "Ada", "born": None},
    }
    script = [says("Hello."), calls(("everything", arguments)), says("So.")]

    async with Conversation(
        hotel(graph=Graph(agents, graph.handoffs, start="reception")), ScriptedLLM(script)
    ) as talk:
        turn = await talk.user_says("please")

    assert [used.output for used in turn.tools] == ["None None"]


Break = Callable[[dict[str, Any]], object]
BREAKS: dict[str, Break] = {
    "default": lambda f: f["parameters"]["properties"]["name"].update(default="x"),
    "title": lambda f: f["parameters"].update(title="x"),
    "length": lambda f: f["parameters"]["properties"]["name"].update(maxLength=4),
    "format": lambda f: f["parameters"]["properties"]["name"].update(format="uri"),
    "pattern": lambda f: f["parameters"]["properties"]["name"].update(pattern="^(?!x)"),
    "required": lambda f: f["parameters"].update(required=[]),
    "open": lambda f: f["parameters"].pop("additionalProperties"),
    "root": lambda f: f["parameters"].update(anyOf=[]),
    "name": lambda f: f.update(name="set guest"),
    "long": lambda f: f.update(description="x" * 1025),
    "bare": lambda f: f.update(description=""),
    "lax": lambda f: f.update(strict=False),
    "any": lambda f: f["parameters"]["properties"].update(name={}),
    "reference": lambda f: f["parameters"]["properties"].update(name={"$ref": "#/$defs/x"}),
    "enum": lambda f: f["parameters"]["properties"]["name"].update(enum=["a", None]),
    "many": lambda f: f["parameters"]["properties"]["name"].update(enum=["a"] * 1001),
}


@pytest.mark.parametrize("how", BREAKS.values(), ids=BREAKS)
def test_the_rules_know_what_breaks_them(how: Break) -> None:
    (tool, *_) = copy.deepcopy(sent(hotel_graph().agent("reception").tools))
    assert offences([tool]) == []

    how(tool["function"])

    assert offences([tool]) != []
