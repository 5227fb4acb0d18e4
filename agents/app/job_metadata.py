"""The metadata of a LiveKit job, typed."""

from functools import cache
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails

from agents.app.faults import InputError
from agents.app.parts import Channel
from rpc.gateway.errors import BadJson
from rpc.gateway.strict_json import read
from state.shared import explained

_SHOWN = 40
"""The most characters of an unknown field's name in a message."""

_NO_OBJECT = "the metadata is not a JSON object with each field once"

_Id = Annotated[str, Field(min_length=1, max_length=128)]
_OptionalId: TypeAlias = _Id | None


class MetadataFaults(InputError):
    """A job's metadata is invalid; the faults name fields and never repeat their values."""


class _Fields(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    state_id: _OptionalId = None
    resume_code: _OptionalId = None
    channel: Channel | None = None
    locale: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}$")] | None = (
        None
    )
    user: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    supersedes: _OptionalId = None
    tries: Annotated[int, Field(ge=0, le=100)] = 0


class JobMetadata(_Fields):
    """The metadata of a dispatch; every field is optional.

    Args:
        state_id: The stored state to resume; in the metadata its name has the application's noun, as
            in ``order_id``.
        resume_code: The resume code of a state; it proves that the state is the user's.
        locale: The user's language and region, as in ``en-US``.
        user: The user's identity in the room; without it one of the participants is bound as the
            user.
        supersedes: The job, dead or leaving, whose call this one continues; set by the dispatcher.
        tries: How many jobs in a row have failed in this call; set by the dispatcher.
        noun: The application's name for a state; not in the metadata.
    """

    noun: Annotated[str, Field(exclude=True)] = "state"

    @classmethod
    def parse(cls, text: str, noun: str = "state") -> "JobMetadata":
        """Parse a job's metadata; an empty text sets nothing.

        Args:
            text: A JSON object.
            noun: The application's name for a state.

        >>> JobMetadata.parse('{"order_id": "abcd-efgh-jkmn"}', "order").state_id
        'abcd-efgh-jkmn'

        Raises:
            MetadataFaults: Everything that is wrong, by field.
        """
        form = _form(noun)
        try:
            fields = form.model_validate(read(text))
        except BadJson:
            raise MetadataFaults([_NO_OBJECT]) from None
        except ValidationError as error:
            raise MetadataFaults(_readable(fault, form) for fault in error.errors()) from None
        return cls(**fields.model_dump(), noun=noun)

    def text(self) -> str:
        """Serialize it for a dispatch, without unset fields."""
        fields = _form(self.noun).model_construct(**self.model_dump())
        return fields.model_dump_json(exclude_defaults=True, by_alias=True)


@cache
def _form(noun: str) -> type[_Fields]:
    """Return the form of the metadata: the name of the state's id has the noun."""
    state_id: Any = (_OptionalId, Field(default=None, alias=f"{noun}_id"))
    return create_model("Metadata", __base__=_Fields, state_id=state_id)


def _readable(fault: ErrorDetails, form: type[_Fields]) -> str:
    name = str(fault["loc"][0])
    if fault["type"] == "extra_forbidden":
        there = ", ".join(field.alias or known for known, field in form.model_fields.items())
        return f'there is no field "{_shown(name)}": there are {there}'
    return f"{name}: {explained(fault)}"


def _shown(name: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in name[:_SHOWN])
