"""The schemas keep the rules of OpenAI's strict function calling."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from agents.handoff import parameters_of, tool_of
from agents.handoff.tools import drop_nulls, strict_parameters
from tests.agents.hotel import AddNights, AskRate, BuyTicket, SetGuest, Telephone


class Part(BaseModel):
    """One part."""

    model_config = ConfigDict(extra="forbid")

    name: str
    words: tuple[str, ...] = ()


class Everything(BaseModel):
    """Uses what pydantic can write into a schema."""

    model_config = ConfigDict(extra="forbid")

    op: Literal["everything"] = "everything"
    kind: Literal["pickup", "delivery"]
    when: str | None = None
    count: Annotated[int, Field(ge=1, le=50, description="How many.")] = 1
    parts: tuple[Part, ...] = ()
    one: Part | None = None
    either: int | str = 0
    mood: Literal["good"] | None = None


def every_object(schema: Any) -> Any:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from every_object(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from every_object(value)


def every_key(schema: Any) -> Any:
    if isinstance(schema, dict):
        for key, value in schema.items():
            yield key
            yield from (
                (key for one in value.values() for key in every_key(one))
                if key == "properties"
                else every_key(value)
            )
    elif isinstance(schema, list):
        for value in schema:
            yield from every_key(value)


@pytest.mark.parametrize(
    "schema",
    [
        strict_parameters(Everything, without=frozenset({"op"})),
        *(parameters_of(tool) for tool in (AddNights, AskRate, BuyTicket, SetGuest, Telephone)),
    ],
)
def test_every_object_requires_all_it_has_and_allows_nothing_else(schema: dict[str, Any]) -> None:
    for part in every_object(schema):
        assert part["additionalProperties"] is False
        assert set(part["required"]) == set(part["properties"])
    assert not {"default", "title", "oneOf", "allOf", "$ref", "$defs", "const"} & set(
        every_key(schema)
    )
    assert "op" not in schema["properties"]


def test_what_may_be_left_out_is_nullable() -> None:
    properties = strict_parameters(Everything)["properties"]

    assert properties["count"]["type"] == ["integer", "null"]
    assert properties["count"]["minimum"] == 1
    assert properties["kind"]["type"] == "string"
    assert {"type": "null"} in properties["when"]["anyOf"]
    assert {"type": "null"} in properties["either"]["anyOf"]


def test_null_means_left_out_at_every_depth() -> None:
    raw: dict[str, object] = {
        "kind": "pickup",
        "when": None,
        "parts": [{"name": "a", "words": None}],
        "op": "everything",
    }

    assert Everything.model_validate(drop_nulls(raw)).parts == (Part(name="a"),)


def test_a_tool_is_made_once() -> None:
    assert tool_of(SetGuest) is tool_of(SetGuest)
    assert tool_of(SetGuest).info.raw_schema["description"] == "Write down the guest's name."
    assert tool_of(SetGuest).info.raw_schema["strict"] is True
