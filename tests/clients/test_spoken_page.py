"""A guest who speaks to the restaurant's page: a real browser, room and agent, with the local speech."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.agents.app.rooms.restaurant_worker import Restaurant
from tests.agents.app.web.test_command import address, web
from tests.clients.guest import Guest, PageError, guests
from tests.livekit import LiveKit, until
from tests.sounds import silence, speech_program, spoken, wav

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

ANSWERS = ".line:not(.by-user):not([aria-hidden])"
TALK = "Hold to talk"
TRIES = 6


async def test_a_guest_orders_by_voice_and_hears_the_agents(
    livekit: LiveKit, tmp_path: Path, built: Path
) -> None:
    speech_program("espeak-ng")
    restaurant = Restaurant(livekit, tmp_path)
    async with (
        speaking(restaurant),
        web(restaurant.environment(), "--page", str(built)) as process,
        guests(seconds=60) as browser,
    ):
        guest = await browser.guest(speaks=True)
        voice = Voice(guest, tmp_path)
        await guest.goto(await address(process))
        await guest.press("Start talking")
        await guest.hear_sound()
        await guest.hear("welcome to Bella Vista")
        await guest.hear_silence()
        assert len(recordings(tmp_path)) == 1
        await guest.see("[aria-label=Recording]", "This call is recorded.")
        assert await guest.axe() == []
        await guest.shot("spoken-0-recorded")
        await guest.press("Do not record me")
        await guest.see(".note", "This call is not recorded.")
        await until(lambda: not recordings(tmp_path), what="the deletion")

        await voice.says("I would like two large Margheritas please", ".item h3", "Margherita")
        await guest.see(".line.by-user .said", "margherita")
        await guest.shot("spoken-1-order")
        await voice.says("can I have a lasagna please", ".item h3", "Lasagna", by=voice.keys)
        await guest.see(".line.by-user .said", "lasagna")
        await guest.choose("Open")
        await voice.says("no thank you, that is all", ANSWERS, "pick it up", by=voice.nothing)
        await guest.shot("spoken-2-open")

        assert await guest.texts(".item .name") == ["Margherita", "Lasagna"]
        assert await browser.complaints() == []


def recordings(folder: Path) -> list[Path]:
    return list(folder.rglob("*.recordings/*/*.wav"))


@asynccontextmanager
async def speaking(restaurant: Restaurant) -> AsyncIterator[None]:
    """Have a worker with speech; it makes its language models first, which takes longer than other starts."""
    settings = {"STT": "local", "TTS": "local", "RECORD_CALLS": "on"}
    with restaurant.starting(
        **{f"BELLA_VISTA_{name}": value for name, value in settings.items()}
    ) as worker:
        await worker.running.says('"worker registered"', seconds=240)
        yield


class Voice:
    """A guest's voice.

    Args:
        guest: Has a microphone that tests speak into.
        folder: Where sounds are kept.
    """

    def __init__(self, guest: Guest, folder: Path) -> None:
        self._guest = guest
        self._file = folder / "said.wav"

    async def button(self, sound: bytes) -> None:
        """Hold the button while speaking."""
        await self._guest.hold(TALK)
        await self._guest.speak(sound)
        await self._guest.release()

    async def keys(self, sound: bytes) -> None:
        """Press a key before speaking and after it."""
        await self._guest.evaluate("document.querySelector('.speak').focus()")
        await self._guest.key("Space")
        await self._guest.see(".speak[aria-pressed=true]")
        await self._guest.speak(sound)
        await self._guest.key("Space")
        await self._guest.see(".speak[aria-pressed=false]")

    async def nothing(self, sound: bytes) -> None:
        """Speak into the open microphone."""
        await self._guest.speak(sound)

    async def says(
        self,
        words: str,
        selector: str,
        text: str,
        by: Callable[[bytes], Awaitable[None]] | None = None,
    ) -> None:
        """Say something and hear the answer; again until it shows: on a busy machine sound is lost.

        Args:
            words: What is said.
            selector: Where the page shows that it was understood.
            text: What stands there then.
            by: How the microphone is used; the button without it.
        """
        sound = wav(self._file, silence(0.3) + spoken(words) + silence(1)).read_bytes()
        for _ in range(TRIES):
            answers = len(await self._guest.texts(ANSWERS))
            await (by or self.button)(sound)
            with suppress(PageError):  # nothing was heard, so nothing is answered
                await self._guest.hear_sound()
                await self._guest.see(f":nth-match({ANSWERS}, {answers + 1})")
            await self._guest.see(".dock.yours")
            if text in " ".join(await self._guest.texts(selector)):
                return
        raise AssertionError(f"{words!r} was not understood")
