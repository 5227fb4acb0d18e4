"""A guest who speaks to the restaurant's page: a real browser, room and agent, with the local speech."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.agents.app.rooms.restaurant_worker import Restaurant
from tests.agents.app.web.test_command import address, web
from tests.clients.guest import Browser, Guest, PageError, guests
from tests.livekit import LiveKit, until
from tests.sounds import silence, speech_program, spoken, wav

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

ANSWERS = ".line:not(.by-user):not([aria-hidden])"
TALK = "Hold to talk"
TRIES = 6


async def test_a_guest_orders_by_voice_and_hears_the_agents(
    livekit: LiveKit, tmp_path: Path, built: Path
) -> None:
    async with open_restaurant(livekit, tmp_path, built) as (browser, url):
        guest = await browser.guest(speaks=True)
        voice = Voice(guest, tmp_path)
        await guest.goto(url)
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


LOCKED = "!navigator.userActivation.hasBeenActive && new AudioContext().state === 'suspended'"
HEARD = """
[...document.querySelectorAll('audio')].some((one) => one.srcObject && !one.paused && one.currentTime > 0)
"""
RESUMED = "sessionStorage.setItem('bella-vista.in-call', 'voice')"


# Keeps each track of a microphone that the page has opened; ``pull`` takes away the one that is used.
OPENED = """
window.opened = [];
window.none = false;
window.live = () => opened.filter((one) => one.readyState === 'live');
window.pull = (last) => {
  none = last;
  const pulled = live()[0];
  pulled.stop();
  pulled.dispatchEvent(new Event('ended'));
};
const openOne = MediaDevices.prototype.getUserMedia;
MediaDevices.prototype.getUserMedia = async function (wanted) {
  if (none) throw new DOMException('', 'NotFoundError');
  const stream = await openOne.call(this, wanted);
  window.opened.push(...stream.getAudioTracks());
  return stream;
};
"""


async def test_start_unlocks_the_sound_and_a_guest_chooses_their_microphone(
    livekit: LiveKit, tmp_path: Path, built: Path
) -> None:
    async with open_restaurant(livekit, tmp_path, built) as (browser, url):
        guest = await browser.guest(speaks=True)
        await guest.goto(url)
        await guest.look(LOCKED)
        await guest.tap(".invitation .button.main")
        await guest.look(HEARD.strip())
        assert await guest.texts(".sound") == []
        await guest.close()

        # A call that goes on after a reload has no press of its own.
        guest = await browser.guest(speaks=True, script=RESUMED)
        await guest.goto(url)
        await guest.look("!!document.querySelector('.sound')")
        await guest.look(LOCKED)
        await guest.tap(".sound")
        await guest.look(HEARD.strip())
        await guest.look("!document.querySelector('.sound')")
        await guest.close()

        guest = await browser.guest(permissions=["microphone"], script=OPENED)
        await guest.goto(url)
        await guest.press("Start talking")
        await guest.see(".dock.yours")
        await guest.press("Sound and language")
        await guest.see("label:has-text('Microphone') + select option", "Fake Audio Input 2")
        await guest.select("Microphone", "Fake Audio Input 2")
        await guest.key("Escape")
        await guest.choose("Open")
        await guest.look("opened.at(-1)?.label === 'Fake Audio Input 2' && live().length === 1")


async def test_a_guest_is_told_that_their_microphone_is_gone_and_goes_on(
    livekit: LiveKit, tmp_path: Path, built: Path
) -> None:
    async with open_restaurant(livekit, tmp_path, built) as (browser, url):
        guest = await browser.guest(permissions=["microphone"], script=OPENED)
        await guest.goto(url)
        await guest.press("Start talking")
        await guest.see(".dock.yours")
        # Between two turns; another one is there.
        await guest.evaluate("pull(false)")
        await guest.look("opened.length === 2 && live().length === 1")
        assert await guest.texts(".gone") == []
        await guest.evaluate("pull(true)")
        await guest.see(".gone [role=alert]", "Your microphone is gone. Plug one in.")
        assert await guest.texts(".speak") == []
        await guest.shot("spoken-3-microphone-gone")
        await guest.press("Try again")
        await guest.say("two large Margheritas please")
        await guest.see(".item h3", "Margherita")
        await guest.see(".gone")
        await guest.evaluate("none = false")
        await guest.press("Try again")
        await guest.see(".speak")

        # While it is on; LiveKit opens the next one.
        await guest.choose("Open")
        await guest.look("live()[0].enabled")
        await guest.evaluate("pull(false)")
        await guest.look("live()[0]?.enabled")
        await guest.evaluate("pull(true)")
        await guest.see(".gone")
        await guest.evaluate(
            "none = false, navigator.mediaDevices.dispatchEvent(new Event('devicechange'))"
        )
        await guest.unsee(".gone")
        await guest.see("[aria-pressed=false]", "Mute")
        await guest.look("live().length === 1 && live()[0].enabled")

        # While a turn is held.
        await guest.choose("Hold")
        await guest.see(".dock.yours")
        await guest.evaluate("document.querySelector('.speak').focus()")
        await guest.key("Space")
        await guest.see(".speak[aria-pressed=true]")
        await guest.look("live()[0].enabled")
        await guest.evaluate("pull(true)")
        await guest.see(".gone")
        await guest.evaluate("none = false")
        await guest.press("Try again")
        await guest.see(".speak[aria-pressed=false]")

        # It can no longer be opened, as is found by talking.
        await guest.see(".dock.yours")
        await guest.evaluate(
            "none = true, live()[0].stop(), document.querySelector('.speak').focus()"
        )
        await guest.key("Space")
        await guest.see(".gone")


def recordings(folder: Path) -> list[Path]:
    return list(folder.rglob("*.recordings/*/*.wav"))


@asynccontextmanager
async def open_restaurant(
    livekit: LiveKit, folder: Path, page: Path, **more: str
) -> AsyncIterator[tuple[Browser, str]]:
    """Have a restaurant that hears, speaks and records; gives a browser, and the address of its page.

    Args:
        livekit: The server of its rooms.
        folder: Where it keeps its files.
        page: The built page.
        more: Settings of its environment.
    """
    speech_program("espeak-ng")
    restaurant = Restaurant(livekit, folder)
    speech = {f"BELLA_VISTA_{name}": "local" for name in ("STT", "TTS")}
    settings = {**speech, "BELLA_VISTA_RECORD_CALLS": "on", **more}
    with restaurant.starting(**settings) as worker:
        # It makes its language models first, which takes longer than other starts.
        await worker.running.says('"worker registered"', seconds=240)
        async with (
            web(restaurant.environment(**more), "--page", str(page)) as process,
            guests(seconds=60) as browser,
        ):
            yield browser, await address(process)


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
