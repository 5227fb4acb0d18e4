"""The server on loopback that stands in for all three providers."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from agents.testing.providers.cartesia import Cartesia
from agents.testing.providers.connection import Asked, Progress
from agents.testing.providers.deepgram import Deepgram
from agents.testing.providers.names import Names
from agents.testing.providers.openai import OpenAI
from agents.testing.providers.script import Answer, Provider, Scenario, Speech, Utterance
from agents.testing.tones import QUIET_S


class Providers:
    """OpenAI, Deepgram and Cartesia on this machine, for the real plugins, without a key.

    They speak the protocols that livekit's plugins of version 1.8.9 use, answer what a scenario
    says, fail where it says so, and refuse what the services themselves would refuse.

    Args:
        replies: How requests to the language model are answered, in their order; or a function
            of the request's JSON object.
        hears: The utterances that are heard, one for each stretch of sound.
        speaks: How texts are spoken, in their order; plainly after the last.
        key: The only key that is accepted; any without it.
        second_per_character: The length of plain speech, in seconds for each character.
        models: Models of speech that are accepted beside the services' usual ones.
        voices: Voices that are accepted beside OpenAI's, and the plugin's default one of Cartesia.
        quiet_s: How much silence ends an utterance, in seconds. A busy machine makes gaps in a
            room's audio: where sound comes through a room, give more than the default.
    """

    def __init__(
        self,
        replies: Iterable[Answer] | Callable[[dict[str, Any]], Answer] = (),
        *,
        hears: Iterable[Utterance | str] = (),
        speaks: Iterable[Speech] = (),
        key: str | None = None,
        second_per_character: float = 0.06,
        models: Iterable[str] = (),
        voices: Iterable[str] = (),
        quiet_s: float = QUIET_S,
    ) -> None:
        self._reply = replies if callable(replies) else None
        scenario = Scenario(
            replies=() if callable(replies) else tuple(replies),
            hears=tuple(Utterance.model_validate(one) for one in hears),
            speaks=tuple(speaks),
        )
        self._progress = Progress(
            scenario, key, second_per_character, Names(models, voices), quiet_s
        )
        self.port = 0

    @classmethod
    def from_file(cls, path: Path, *, key: str | None = None) -> Self:
        """Make the providers of a scenario file, in YAML.

        Raises:
            OSError: The file cannot be read.
            ScenarioError: The file is no scenario; lists every fault.
        """
        scenario = Scenario.read(path.read_text(encoding="utf-8"))
        return cls(scenario.replies, hears=scenario.hears, speaks=scenario.speaks, key=key)

    @property
    def asked(self) -> list[Asked]:
        """Everything that was asked, in its order; messages over WebSocket one by one."""
        return self._progress.asked

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The JSON objects of the requests to the language model, in their order.

        One to the realtime API has the conversation at that moment as ``items``.
        """
        paths = ("/v1/chat/completions", "/v1/responses")
        return [
            one.body
            for one in self.asked
            if (one.path in paths and one.body) or one.body.get("items") is not None
        ]

    @property
    def faults(self) -> list[str]:
        """Requests that the services would have refused, or that the scenario has no answer for."""
        return self._progress.faults

    @property
    def refuses(self) -> dict[Provider, int]:
        """Providers that refuse every new request, each with the status of the refusal."""
        return self._progress.refuses

    async def break_off(self, provider: Provider, code: int = 1011) -> None:
        """Close a provider's open WebSockets now. New ones are accepted unless ``refuses`` names it.

        Args:
            provider: The provider.
            code: The code they are closed with.
        """
        await self._progress.break_off(provider, code)

    @property
    def url(self) -> str:
        """The address for the settings of speech-to-text and text-to-speech."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        """The address for ``OPENAI_BASE_URL``."""
        return f"{self.url}/v1"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Serve on loopback, on a free port."""
        app = web.Application()
        openai = OpenAI(self._progress, self._reply)
        for provider in (openai, Deepgram(self._progress), Cartesia(self._progress)):
            app.add_routes(provider.routes())
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.port = runner.addresses[0][1]
            yield self
        finally:
            self._progress.closing.set()
            await runner.cleanup()
