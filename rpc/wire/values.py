"""Field types of requests and replies, and how they appear in the contract."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    JsonValue,
    TypeAdapter,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

Key = Annotated[
    str,
    Field(
        min_length=1,
        max_length=255,
        description="Idempotency key: a repeated request changes nothing and gets the first answer.",
    ),
]
Version = Annotated[
    int, Field(ge=0, le=2**53, description="The version of the order that the caller has seen.")
]
Now = Annotated[int, Field(description="The version of the order in this reply.")]
Ask = Annotated[str, Field(max_length=200)]
Fields: TypeAlias = Mapping[str, JsonValue]


class Shown(BaseModel):
    """Base of all reply and push models: every field is always present, ``null`` if unknown."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_serialization_defaults_required=True,
        serialize_by_alias=True,
    )


class WrittenAs:
    """Documents a value in the contract with another type's schema.

    Args:
        form: The type whose schema is shown.
        made_here: Whether our own code created the value, so that it is not validated.
    """

    def __init__(self, form: Any, *, made_here: bool = False) -> None:
        self._schema = TypeAdapter(form).core_schema
        self._made_here = made_here

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.any_schema() if self._made_here else handler(source)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(self._schema)
