"""What a room's dispatch may say about the call: the metadata of a LiveKit job, typed."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bella_vista.faults import Faulty
from rpc.gateway.errors import BadJson
from rpc.gateway.strict_json import read
from state.order import Channel

_SHOWN = 40
"""How much of an unknown field's name is repeated, in characters."""

_NO_OBJECT = "the metadata is not a JSON object with each field once"

_Id = Annotated[str, Field(min_length=1, max_length=128)]


class MetadataFaults(Faulty):
    """The metadata of a job cannot be used; the faults name fields, and never repeat what stands in them."""


class JobMetadata(BaseModel):
    """What whoever dispatches us to a room may tell: all of it optional.

    Args:
        order_id: The stored order to go on with.
        resume_code: The code its guest was given, which proves that it is his.
        channel: How the guest talks to the house.
        locale: The guest's language and region, as in ``en-US``.
        user: The user's identity in the room; without it the user is found among those who come.
        supersedes: The job, dead or on its way out, whose call this one goes on with; set by ourselves.
        tries: How many jobs in a row were lost with this call; set by ourselves.
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
        """Read a job's metadata; an empty text says nothing.

        >>> JobMetadata.parse('{"order_id": "abcd-efgh-jkmn"}').order_id
        'abcd-efgh-jkmn'

        Raises:
            MetadataFaults: Everything that is wrong, by field, in words for whoever wrote the dispatch.
        """
        try:
            return cls.model_validate(read(text))
        except BadJson:
            raise MetadataFaults([_NO_OBJECT]) from None
        except ValidationError as error:
            raise MetadataFaults(_readable(fault) for fault in error.errors()) from None

    def text(self) -> str:
        """Write it down for a dispatch, without what is not set."""
        return self.model_dump_json(exclude_defaults=True)


def _readable(fault: Mapping[str, Any]) -> str:
    name = str(fault["loc"][0])
    if fault["type"] == "extra_forbidden":
        there = ", ".join(JobMetadata.model_fields)
        return f'there is no field "{_shown(name)}": there are {there}'
    return f"{name}: {str(fault['msg']).lower()}"


def _shown(name: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in name[:_SHOWN])
