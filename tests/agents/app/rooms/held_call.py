"""A phone call in a process of its own, to be killed: started with ``Held`` as JSON."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from livekit import api

from agents.app.recordings import Recordings
from agents.app.rooms.media import Media
from agents.app.rooms.transfer import PhoneServer
from agents.testing import ToneTTS
from tests.agents.app.rooms.conftest import Agent, Calls, house_of
from tests.agents.app.rooms.test_speech import speech
from tests.agents.app.serving.processes import Running, clean_environment, started
from tests.livekit import LiveKit

DESK = "+12125550101"


def held_in(livekit: LiveKit, room: str, folder: Path, **more: str) -> "Held":
    """Return a call in a room, whose orders are in a folder."""
    keys = (livekit.url, livekit.api_key, livekit.api_secret)
    given = {"sip_url": livekit.url.replace("ws", "http", 1), **more}
    database, job = f"sqlite:///{folder}/orders.db", f"AJ_{uuid4().hex[:12]}"
    return Held(*keys, database=database, room=room, job=job, **given)


@dataclass(frozen=True)
class Held:
    """A call.

    Args:
        url: The LiveKit server's.
        api_key: Its key.
        api_secret: Its secret.
        sip_url: The server by which people are called.
        database: Where the orders are.
        room: The caller's room.
        job: The job's id.
        supersedes: The job whose call it continues.
        recordings: The folder of its recordings, if it is recorded.
    """

    url: str
    api_key: str
    api_secret: str
    sip_url: str
    database: str
    room: str
    job: str
    supersedes: str | None = None
    recordings: str | None = None

    @contextmanager
    def process(self, folder: Path) -> Iterator[Running]:
        """Run its process for a while.

        Args:
            folder: Its user's home.
        """
        command = ("-m", "tests.agents.app.rooms.held_call", json.dumps(asdict(self)))
        with started(command, clean_environment(folder)) as process:
            yield process

    @asynccontextmanager
    async def agent(self) -> AsyncIterator[Agent]:
        """Have its agent in the room for a while."""
        server: Any = SimpleNamespace(
            url=self.url, api_key=self.api_key, api_secret=self.api_secret
        )
        keys = (self.api_key, self.api_secret)
        async with (
            house_of(self.database, transfer_to=DESK) as house,
            api.LiveKitAPI(self.sip_url, *keys) as phone,
        ):
            tts = ToneTTS(character_s=0.0005)
            house = replace(house, media=Media(lambda: speech(tts)))
            if self.recordings is not None:
                house = replace(house, recordings=Recordings(Path(self.recordings), "house"))
            phones = PhoneServer(phone, self.url, *keys, trunk="ST_out")
            calls = Calls(LiveKit(server), house)
            lost: dict[str, Any] = (
                {} if self.supersedes is None else {"supersedes": self.supersedes}
            )
            async with calls.agent(self.room, job=self.job, phones=phones, **lost) as agent:
                yield agent


async def _hold(held: Held) -> None:
    async with held.agent():
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_hold(Held(**json.loads(sys.argv[1]))))
