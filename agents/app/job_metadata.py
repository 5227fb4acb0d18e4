"""The metadata of a LiveKit job, typed."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.app.channel import Channel
from agents.app.faults import InputError
from rpc.gateway.errors import BadJson
from rpc.gateway.strict_json import read

_SHOWN = 40
"""How many characters of an unknown field's name are repeated."""

_NO_OBJECT = "the metadata is not a JSON object with each field once"

_Id = Annotated[str, Field(min_length=1, max_length=128)]


class MetadataFaults(InputError):
    """A job's metadata is invalid; the faults name fields and never repeat their values."""


class JobMetadata(BaseModel):
    """What a dispatch may say about a call; every field is optional.

    Args:
        order_id: The stored order to resume.
        resume_code: The resume code of an order, which proves that it is the guest's.
        channel: How the guest talks to us.
        locale: The guest's language and region, as in ``en-US``.
        user: The user's identity in the room; without it the user is determined among the
            participants.
        supersedes: The job, dead or leaving, whose call this one continues; set by the dispatcher.
        tries: How many jobs in a row have failed in this call; set by the dispatcher.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    order_id: _Id | None = None
    resume_code: _Id | None = None
    channel: Channel | None = None
    locale: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}$")] | None = (
        None
    )
    user: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    supersedes: _Id | None = None
    tries: Annotated[int, Field(ge=0, le=100)] = 0

    @classmethod
    def parse(cls, text: str) -> "JobMetadata":
        """Parse a job's metadata; an empty text sets nothing.

        >>> JobMetadata.parse('{"order_id": "abcd-efgh-jkmn"}').order_id
        'abcd-efgh-jkmn'

        Raises:
            MetadataFaults: Everything that is wrong, by field.
        """
        try:
            return cls.model_validate(read(text))
        except BadJson:
            raise MetadataFaults([_NO_OBJECT]) from None
        except ValidationError as error:
            raise MetadataFaults(_readable(fault) for fault in error.errors()) from None

    def text(self) -> str:
        """Serialize it for a dispatch, without unset fields."""
        return self.model_dump_json(exclude_defaults=True)


def _readable(fault: Mapping[str, Any]) -> str:
    name = str(fault["loc"][0])
    if fault["type"] == "extra_forbidden":
        there = ", ".join(JobMetadata.model_fields)
        return f'there is no field "{_shown(name)}": there are {there}'
    return f"{name}: {str(fault['msg']).lower()}"


def _shown(name: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in name[:_SHOWN])
