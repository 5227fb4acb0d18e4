"""Access to a room for a user: creates the room, joins it with a token, and dispatches an agent."""

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from google.protobuf.message import DecodeError
from livekit import api, rtc

from agents.app.faults import InputError
from agents.app.settings import AppSettings
from agents.handoff.livekit_workarounds import connect

ROOM_MARGIN_S = 30
"""How much longer than the grace time the server keeps a room whose user has left, in seconds."""

_EMPTY_ROOM_S = 120
"""How long the server keeps a room that no participant has joined yet, in seconds."""

_RUNNING = (api.JobStatus.JS_PENDING, api.JobStatus.JS_RUNNING)
_ANSWER_LIMIT_S = 10.0


class Unreachable(Exception):
    """The server cannot be reached or rejects the request; the message says how to fix it."""


class KeysRefused(InputError):
    """The server rejects the keys."""

    def __init__(self) -> None:
        super().__init__(
            [
                "LIVEKIT_API_KEY, LIVEKIT_API_SECRET: rejected by the server:"
                " use those it was started with"
            ]
        )


def new_room() -> str:
    """Create an unguessable room name."""
    return f"room-{secrets.token_hex(16)}"


def new_identity() -> str:
    """Create an unguessable identity: the state belongs to it."""
    return f"user-{secrets.token_hex(16)}"


@dataclass(frozen=True)
class RoomAccess:
    """Joins rooms of one server and dispatches agents to them.

    Its methods raise ``Unreachable``, and ``KeysRefused`` if the server rejects the keys.

    Args:
        settings: The server, the keys, and the agent name.
    """

    settings: AppSettings

    @property
    def url(self) -> str:
        """The server's address."""
        return self.settings.livekit_url or ""

    async def join(self, room: rtc.Room, name: str, identity: str) -> None:
        """Join a room as a user.

        Args:
            room: The room object, not connected.
            name: The room's name.
            identity: The user's identity.
        """
        # The token has no room configuration: with one the server would dispatch a second agent
        # after a crash.
        token = api.AccessToken(*self.settings.livekit_keys).with_identity(identity)
        token = token.with_grants(api.VideoGrants(room_join=True, room=name))
        try:
            await connect(room, self.url, token.to_jwt())
        except rtc.ConnectError as error:
            if "401" in error.message:  # livekit 1.1.21 gives no other indication
                raise KeysRefused from None
            raise Unreachable(f"{self.url}: the room cannot be joined") from None

    async def open(self, name: str) -> None:
        """Create a room that is kept while a user is briefly away."""
        async with self._server() as server:
            await server.room.create_room(
                api.CreateRoomRequest(
                    name=name,
                    empty_timeout=_EMPTY_ROOM_S,
                    departure_timeout=int(self.settings.grace) + ROOM_MARGIN_S,
                )
            )

    async def dispatch_agent(self, name: str, identity: str, resume_code: str | None) -> None:
        """Dispatch an agent to a room, unless a dispatched agent is running or starting.

        Args:
            name: The room.
            identity: The user's identity.
            resume_code: Resumes a state of theirs from another room.
        """
        metadata = {"user": identity}
        if resume_code is not None:
            metadata["resume_code"] = resume_code
        agent_name = self.settings.agent_name
        async with self._server() as server:
            for known in await server.agent_dispatch.list_dispatch(name):
                # A dispatch made while there was no worker has no jobs, and livekit-server 1.13.5
                # never retries it.
                if known.agent_name == agent_name and any(
                    job.state.status in _RUNNING for job in known.state.jobs
                ):
                    return
            await server.agent_dispatch.create_dispatch(
                api.CreateAgentDispatchRequest(
                    agent_name=agent_name, room=name, metadata=json.dumps(metadata)
                )
            )

    @asynccontextmanager
    async def _server(self) -> AsyncIterator[api.LiveKitAPI]:
        limit = aiohttp.ClientTimeout(total=_ANSWER_LIMIT_S)
        try:
            async with api.LiveKitAPI(
                self.url, *self.settings.livekit_keys, timeout=limit, failover=False
            ) as server:
                yield server
        except api.TwirpError as error:
            if error.status in (401, 403):
                raise KeysRefused from None
            raise Unreachable(f"{self.url}: the server answers {error.code}") from None
        except (TimeoutError, aiohttp.ClientError, OSError, DecodeError):
            raise Unreachable(f"{self.url}: no LiveKit server answers") from None
