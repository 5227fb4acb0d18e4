"""LiveKit's standard token endpoint: the request that it accepts, and the token that it returns."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal

from livekit import api
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from agents.app.join.room_access import ROOM_MARGIN_S
from agents.app.settings import AppSettings
from agents.app.web.cookies import Visitor
from agents.app.web.errors import WebError
from rpc.gateway.errors import BadJson
from rpc.gateway.strict_json import read
from state.privacy import clean

TOKEN_S = 300
"""How long a token lets its bearer join, in seconds."""

_Name = Annotated[str, Field(max_length=80)]


def _unset(value: object) -> object:
    """Return ``None`` for a value by which a protocol buffer's JSON stands for an unset field."""
    return None if value in ("", {}, []) else value


_NotSet = Annotated[None, BeforeValidator(_unset)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class _Agent(_Form):
    agent_name: str
    metadata: _NotSet = None
    deployment: _NotSet = None


class _RoomConfig(_Form):
    agents: tuple[_Agent, ...] | None = Field(default=None, max_length=1, strict=False)


class TokenRequest(_Form):
    """LiveKit's standard request; only the name is the client's choice."""

    participant_name: Annotated[_Name | None, BeforeValidator(_unset)] = None
    room_config: Annotated[_RoomConfig | None, BeforeValidator(_unset)] = None
    room_name: _NotSet = None
    participant_identity: _NotSet = None
    participant_metadata: _NotSet = None
    participant_attributes: _NotSet = None

    @classmethod
    def parse(cls, body: bytes, agent_name: str) -> "TokenRequest":
        """Parse a request.

        Args:
            body: JSON, or nothing.
            agent_name: The agent name that a client may repeat.

        Raises:
            WebError: It asks for something that only the server chooses.
        """
        fields = json_object(body)
        try:
            request = cls.model_validate(fields)
        except ValidationError as error:
            raise WebError(400, _readable(error.errors()[0])) from None
        named = request.room_config.agents if request.room_config is not None else None
        if any(one.agent_name != agent_name for one in named or ()):
            raise WebError(400, "room_config.agents: this server chooses the agent.")
        return request


def json_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object; no body is an empty one.

    Raises:
        WebError: The body is not a JSON object.
    """
    try:
        return dict(read(body.decode()))
    except UnicodeDecodeError:
        raise WebError(400, "The body has to be UTF-8.") from None
    except BadJson as error:
        raise WebError(400, error.detail) from None


def _readable(fault: Mapping[str, Any]) -> str:
    field = ".".join(str(one) for one in fault["loc"][:1])
    if fault["type"] == "extra_forbidden" or fault["type"] == "none_required":
        known = field in TokenRequest.model_fields
        return f"{field}: only the server chooses it." if known else "There is no such field."
    return f"{field}: {str(fault['msg']).lower()}"


TokenReply = dict[
    Literal["server_url", "participant_token", "room_name", "participant_identity"], str
]


def token_reply(visitor: Visitor, name: str | None, settings: AppSettings) -> TokenReply:
    """Make a token that lets a visitor join their own room only.

    It names no agent: after a crash of the LiveKit server it would dispatch a second one.

    Args:
        visitor: The user.
        name: Their name, as others in the room see it.
        settings: The server, its keys, and the grace time.
    """
    token = (
        api.AccessToken(*settings.livekit_keys)
        .with_identity(visitor.identity)
        .with_name(clean(name or ""))
        .with_ttl(timedelta(seconds=TOKEN_S))
        .with_grants(
            api.VideoGrants(
                room_join=True,
                room=visitor.room,
                can_publish=True,
                can_publish_sources=["microphone"],
                can_subscribe=True,
                can_publish_data=True,
                can_update_own_metadata=False,
            )
        )
        .with_room_config(
            api.RoomConfiguration(departure_timeout=int(settings.grace) + ROOM_MARGIN_S)
        )
    )
    return {
        "server_url": settings.web_livekit_url or settings.livekit_url or "",
        "participant_token": token.to_jwt(),
        "room_name": visitor.room,
        "participant_identity": visitor.identity,
    }
