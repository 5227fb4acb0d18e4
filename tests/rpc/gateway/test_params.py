"""A request is typed; what is wrong with one is said by field."""

from datetime import datetime
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, model_validator

from rpc.gateway import BadJson, BadParams, Request, UnknownOperation, part
from rpc.gateway.params import request


class Walk(BaseModel):
    op: Literal["walk"]
    steps: int = Field(ge=1)


class Rest(BaseModel):
    op: Literal["rest"]
    until: datetime | None = None


class Do(Request):
    command: Annotated[Walk | Rest, Field(discriminator="op")]
    key: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    version: Annotated[int, Field(ge=0, le=2**53)] | None = None


class Either(Request):
    one: int | None = None
    other: int | None = None

    @model_validator(mode="after")
    def _one(self) -> "Either":
        if self.one is None and self.other is None:
            raise ValueError("give one or the other")
        return self


def test_a_request_is_read_with_texts_as_times() -> None:
    asked = request(Do, '{"command":{"op":"rest","until":"2026-11-20T19:00:00Z"},"version":3}')

    assert isinstance(asked.command, Rest)
    assert asked.version == 3


@pytest.mark.parametrize("version", ["-1", '"3"', "9007199254740993", "true", "1.5", "1e30"])
def test_a_version_is_a_whole_number_that_javascript_has(version: str) -> None:
    with pytest.raises(BadParams) as refused:
        request(Do, '{"command":{"op":"rest"},"version":' + version + "}")

    assert refused.value.facts["field"] == "version"


def test_a_key_has_255_characters_at_most() -> None:
    with pytest.raises(BadParams, match="key: has to have at most 255 characters"):
        request(Do, '{"command":{"op":"rest"},"key":"%s"}' % ("k" * 256))


def test_an_unknown_operation_is_told_what_is_possible_and_not_repeated() -> None:
    with pytest.raises(UnknownOperation) as refused:
        request(Do, '{"command":{"op":"4111111111111111"},"total":0}')

    assert refused.value.facts == {"field": "command", "possible": ["walk", "rest"]}
    assert "4111" not in refused.value.detail


def test_an_operation_without_its_name_is_a_missing_field() -> None:
    with pytest.raises(BadParams) as refused:
        request(Do, '{"command":{}}')

    assert refused.value.facts["field"] == "command"


def test_the_message_of_a_models_own_validator_is_returned() -> None:
    with pytest.raises(BadParams, match="the request: give one or the other."):
        request(Either, "{}")


def test_a_thousand_wrong_fields_are_told_by_the_first_few() -> None:
    with pytest.raises(BadParams) as refused:
        request(Either, "{" + ",".join(f'"x{number}":1' for number in range(1_000)) + "}")

    assert len(refused.value.facts["errors"]) == 5  # type: ignore[arg-type]
    assert refused.value.detail.endswith("(999 more)")


def test_a_fault_in_a_part_names_its_path() -> None:
    with pytest.raises(BadParams) as refused:
        part(Walk, {"op": "walk", "steps": 0}, at="data")

    assert refused.value.facts["field"] == "data.steps"
    assert part(Walk, {"op": "walk", "steps": 2}).steps == 2


def test_bad_json_is_bad_json() -> None:
    with pytest.raises(BadJson):
        request(Do, "{")
