"""The way into a room: a name for it, a token for the guest, and an agent that is sent for."""

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from google.protobuf.message import DecodeError
from livekit import api, rtc

from bella_vista.faults import Faulty
from bella_vista.settings import ServingSettings

_LONGER_THAN_OURS_S = 30
"""How much longer the server keeps a room than the house waits for a guest who has left, in seconds."""

_NO_ONE_YET_S = 120
"""How long the server keeps a room that nobody has joined yet, in seconds."""

_RUNNING = (api.JobStatus.JS_PENDING, api.JobStatus.JS_RUNNING)
_ANSWER_LIMIT_S = 10.0


class Unreachable(Exception):
    """The server is not there, or does not let us in; the message says what to do."""


class KeysRefused(Faulty):
    """The server does not know the keys."""

    def __init__(self) -> None:
        super().__init__(
            [
                "LIVEKIT_API_KEY, LIVEKIT_API_SECRET: the server does not accept them:"
                " take those it was started with"
            ]
        )


def new_room() -> str:
    """Make a name for a room that nobody guesses."""
    return f"guest-{secrets.token_hex(16)}"


def new_identity() -> str:
    """Make an identity that nobody guesses: it is what the order belongs to."""
    return f"guest-{secrets.token_hex(16)}"


@dataclass(frozen=True)
class Entrance:
    """The doors of one server.

    Args:
        settings: Which server, with which keys, and the name its agents listen to.
    """

    settings: ServingSettings

    @property
    def url(self) -> str:
        """The server's address."""
        return self.settings.livekit_url or ""

    async def join(self, room: rtc.Room, name: str, identity: str) -> None:
        """Let a guest into a room.

        Args:
            room: What he sees it through.
            name: The room's name.
            identity: Who he is there.

        Raises:
            Unreachable: It did not work.
            KeysRefused: It does not know the keys.
        """
        # Without a room configuration in it: with one, the server would send a second agent after a crash.
        token = api.AccessToken(*self._keys()).with_identity(identity)
        token = token.with_grants(api.VideoGrants(room_join=True, room=name))
        try:
            await room.connect(self.url, token.to_jwt())
        except rtc.ConnectError as error:
            if "401" in error.message:  # livekit 1.1.21 has no other sign of it
                raise KeysRefused from None
            raise Unreachable(f"{self.url}: the room cannot be joined") from None

    async def open(self, name: str) -> None:
        """Make a fresh room that outlives a guest who is away for a moment.

        Raises:
            Unreachable: The server is not there.
            KeysRefused: It does not know the keys.
        """
        async with self._server() as server:
            await server.room.create_room(
                api.CreateRoomRequest(
                    name=name,
                    empty_timeout=_NO_ONE_YET_S,
                    departure_timeout=int(self.settings.grace) + _LONGER_THAN_OURS_S,
                )
            )

    async def send_for_agent(self, name: str, identity: str, resume_code: str | None) -> None:
        """Send for an agent, unless one is on its way into that room already.

        Args:
            name: The room.
            identity: The guest it is to talk with.
            resume_code: Continues an order of his from another room.

        Raises:
            Unreachable: The server is not there.
            KeysRefused: It does not know the keys.
        """
        metadata = {"user": identity}
        if resume_code is not None:
            metadata["resume_code"] = resume_code
        agent_name = self.settings.agent_name
        async with self._server() as server:
            for known in await server.agent_dispatch.list_dispatch(name):
                # Sent for while no worker was there, livekit-server 1.13.5 never tries again: it has no jobs.
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
                self.url, *self._keys(), timeout=limit, failover=False
            ) as server:
                yield server
        except api.TwirpError as error:
            if error.status in (401, 403):
                raise KeysRefused from None
            raise Unreachable(f"{self.url}: the server answers {error.code}") from None
        except (TimeoutError, aiohttp.ClientError, OSError, DecodeError):
            raise Unreachable(f"{self.url}: no LiveKit server answers there") from None

    def _keys(self) -> tuple[str, str]:
        secret = self.settings.livekit_api_secret
        return self.settings.livekit_api_key or "", secret.get_secret_value() if secret else ""
