"""The models that hear and speak, as the settings ask for them.

Nothing here is imported before a call needs it: the providers' plugins take half a second.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from bella_vista.setting_values import check_key, needs_key
from bella_vista.settings import (
    ServingSettings,
    Settings,
    SettingsFaults,
    serving_settings,
    usable_settings,
    variable,
)

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from livekit.agents.stt import STT
    from livekit.agents.tts import TTS
    from livekit.agents.vad import VAD
    from livekit.agents.voice.turn import TurnHandlingOptions

logger = logging.getLogger(__name__)

DEEPGRAM, CARTESIA, OPENAI, NONE = "deepgram", "cartesia", "openai", "none"

ATTEMPT_S = 5.0
"""How long one provider may take to answer before another is asked, in seconds."""

MOST_TERMS = 100
"""So many words of a menu are told to the model that hears: providers take no more."""

_NO_KEY = "no-key"
"""What is sent to a server that needs no key: the client insists on something."""


@dataclass(frozen=True)
class Speech:
    """All that a call in speech needs; whoever has it built closes it.

    Args:
        stt: The speech-to-text model.
        tts: The text-to-speech model.
        vad: What notices that somebody speaks.
        tts_by_agent: Text-to-speech models of agents that have their own, by the agent's name.
        turns: How the end of what a guest says is found.
        built: Every model among them.
    """

    stt: "STT[Any]"
    tts: "TTS[Any]"
    vad: "VAD"
    tts_by_agent: "Mapping[str, TTS[Any]]"
    turns: "TurnHandlingOptions"
    built: "tuple[STT[Any] | TTS[Any], ...]"

    async def aclose(self) -> None:
        """Let go of every connection."""
        ends = await asyncio.gather(*(one.aclose() for one in self.built), return_exceptions=True)
        for end in ends:
            if isinstance(
                end, Exception
            ):  # what cannot be closed is no reason to leave others open
                logger.warning("a model for speech was not closed: %s", type(end).__name__)


def hears(settings: Settings) -> str | None:
    """Return which provider hears; nothing when none is named and Deepgram's key is not set."""
    return _chosen(settings.stt, DEEPGRAM, settings.deepgram_api_key)


def speaks(settings: Settings) -> str | None:
    """Return which provider speaks; nothing when none is named and Cartesia's key is not set."""
    return _chosen(settings.tts, CARTESIA, settings.cartesia_api_key)


def _chosen(named: str | None, usual: str, key: SecretStr | None) -> str | None:
    if named is None:
        return usual if key is not None and key.get_secret_value().strip() else None
    return None if named == NONE else named


def missing_for_speech(settings: Settings) -> tuple[str, ...]:
    """Name the settings without which a room is text only; none when a call can be spoken.

    >>> missing_for_speech(Settings(stt="openai", tts="none"))
    ('BELLA_VISTA_TTS',)
    """
    missing = []
    if hears(settings) is None:
        missing.append("stt" if settings.stt == NONE else "deepgram_api_key")
    if speaks(settings) is None:
        missing.append("tts" if settings.tts == NONE else "cartesia_api_key")
    return tuple(variable(name) for name in missing)


def speech_faults(settings: Settings, agents: Iterable[str] = ()) -> tuple[str, ...]:
    """List everything that is wrong with the settings of speech, by the variables' names.

    Args:
        settings: All of them.
        agents: The names of the agents there are; not looked at when there are none.
    """
    faults = []
    asked: dict[str, list[str | None]] = {DEEPGRAM: [], CARTESIA: [], OPENAI: []}
    for kind, provider, fallback, url in (
        ("stt", hears(settings), settings.stt_fallback, settings.stt_base_url),
        ("tts", speaks(settings), settings.tts_fallback, settings.tts_base_url),
    ):
        if provider is None:
            continue
        asked[provider].append(url)
        if fallback is not None:
            asked[fallback].append(None)
            if fallback == provider:
                faults.append(f"{variable(f'{kind}_fallback')}: is asked already, and first")
    faults += [
        fault
        for provider, urls in asked.items()
        if urls and (fault := _key_fault(settings, provider, urls)) is not None
    ]
    known = tuple(agents)
    strangers = [name for name in speaking_voices(settings) if known and name not in known]
    if strangers:
        faults.append(
            f"{variable('tts_voices')}: there is no agent {', '.join(strangers)}:"
            f" there are {', '.join(known)}"
        )
    return tuple(faults)


def _key_fault(settings: Settings, provider: str, urls: Sequence[str | None]) -> str | None:
    name = f"{provider}_api_key"
    key: SecretStr | None = getattr(settings, name)
    if key is None or not key.get_secret_value().strip():
        if provider == OPENAI:
            wanted = any(needs_key(url or settings.openai_base_url) for url in urls)
        else:
            wanted = None in urls
        return f"{variable(name)}: is not set, and {provider} is to be asked" if wanted else None
    try:
        check_key(key)
    except ValueError as error:
        return f"{variable(name)}: {error}"
    return None


def speaking_voices(settings: Settings) -> dict[str, str]:
    """Return the provider's voice of each agent that has its own.

    >>> speaking_voices(Settings(tts_voices="payment=calm, feedback = warm"))
    {'payment': 'calm', 'feedback': 'warm'}
    """
    pairs = (pair.partition("=") for pair in settings.tts_voices.split(",") if pair.strip())
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def speaking_settings(*, agents: Iterable[str] = (), **options: object) -> ServingSettings:
    """Put the settings together for whoever serves rooms, speech included.

    Args:
        agents: The names of the agents there are.
        options: What was given on the command line, by name; ``None`` is not given.

    Raises:
        SettingsFaults: Everything that is wrong, each naming what to change.
    """
    try:
        settings = serving_settings(**options)
    except SettingsFaults as wrong:
        faults = wrong.faults
        usable = usable_settings(**options)
        if usable is not None and not any(map(_of_speech, usable[1])):
            faults += speech_faults(usable[0], agents)
        raise SettingsFaults(faults) from None
    if found := speech_faults(settings, agents):
        raise SettingsFaults(found)
    return settings


def _of_speech(field: str) -> bool:
    return field.startswith(("stt", "tts", "deepgram", "cartesia", "openai"))


@cache
def detector() -> "VAD":
    """Load what notices that somebody speaks, once per process: it takes a moment, and blocks."""
    from livekit.plugins import silero

    return silero.VAD.load()


def speech_models(
    settings: Settings,
    *,
    agents: Iterable[str] = (),
    terms: Sequence[str] = (),
    http: "ClientSession | None" = None,
) -> Speech | None:
    """Build what hears and what speaks, or nothing where the settings name no providers for both.

    Args:
        settings: Who is asked, and with which keys.
        agents: The names of the agents there are.
        terms: Words that the model that hears should know, like the names of dishes.
        http: What connects; a job's own without it.

    Raises:
        SettingsFaults: Everything that is wrong with these settings.
    """
    if faults := speech_faults(settings, agents):
        raise SettingsFaults(faults)
    if missing_for_speech(settings):
        return None
    from agents.handoff import turns_by

    vad = detector()
    build = _Builder(settings, vad, list(terms[:MOST_TERMS]), http)
    stt = build.stt()
    tts = build.tts(settings.tts_voice)
    tts_by_agent = {ours: build.tts(theirs) for ours, theirs in speaking_voices(settings).items()}
    return Speech(stt, tts, vad, tts_by_agent, turns_by(vad), tuple(build.built))


@dataclass
class _Builder:  # ``Any`` because the plugins' models are generic in what nobody here asks for
    settings: Settings
    vad: "VAD"
    terms: list[str]
    http: "ClientSession | None"

    def __post_init__(self) -> None:
        self.built: list[STT[Any] | TTS[Any]] = []
        self._second: Any = None

    def stt(self) -> Any:
        """Build what hears, and who does when that fails."""
        from livekit.agents.stt import FallbackAdapter

        chosen = self.settings
        provider, second = hears(chosen), chosen.stt_fallback
        first = self._stt(provider, chosen.stt_model, chosen.stt_base_url)
        if second is None:
            return first
        return self._kept(
            FallbackAdapter(
                [first, self._stt(second, chosen.stt_fallback_model, None)],
                vad=self.vad,
                attempt_timeout=ATTEMPT_S,
                max_retry_per_stt=0,
            )
        )

    def tts(self, voice: str | None) -> Any:
        """Build what speaks with one voice, and who does when that fails."""
        from livekit.agents.tts import FallbackAdapter

        chosen = self.settings
        first = self._tts(speaks(chosen), chosen.tts_model, chosen.tts_base_url, voice)
        if chosen.tts_fallback is None:
            return first
        second = self._second or self._tts(
            chosen.tts_fallback, chosen.tts_fallback_model, None, chosen.tts_fallback_voice
        )
        self._second = second
        return self._kept(FallbackAdapter([first, second], max_retry_per_tts=0))

    def _stt(self, provider: str | None, model: str | None, url: str | None) -> Any:
        chosen = self.settings
        said: dict[str, Any] = {"language": chosen.language}
        if model is not None:
            said["model"] = model
        if provider == OPENAI:
            from livekit.plugins import openai

            # Each stretch of speech by itself: that is what compatible servers can do.
            return self._kept(openai.STT(**said, **self._openai(url), use_realtime=False))
        from livekit.plugins import deepgram

        if url is not None:
            said["base_url"] = f"{url.removesuffix('/listen').removesuffix('/v1')}/v1/listen"
        if self.terms and said.get("model", "nova-3").startswith("nova-3"):
            said["keyterm"] = self.terms
        return self._kept(
            deepgram.STT(**said, api_key=_text(chosen.deepgram_api_key), http_session=self.http)
        )

    def _tts(
        self, provider: str | None, model: str | None, url: str | None, voice: str | None
    ) -> Any:
        chosen = self.settings
        said: dict[str, Any] = {}
        if model is not None:
            said["model"] = model
        if voice is not None:
            said["voice"] = voice
        if provider == OPENAI:
            from livekit.plugins import openai

            return self._kept(openai.TTS(**said, **self._openai(url)))
        from livekit.plugins import cartesia

        if url is not None:
            said["base_url"] = url
        return self._kept(
            cartesia.TTS(
                **said,
                language=chosen.language,
                api_key=_text(chosen.cartesia_api_key),
                word_timestamps=False,
                http_session=self.http,
            )
        )

    def _openai(self, url: str | None) -> dict[str, Any]:
        """Say where OpenAI's protocol is spoken, and with which key: it is sent to no other server."""
        chosen = self.settings
        own = url in (None, chosen.openai_base_url)
        return {
            "base_url": url or chosen.openai_base_url or "https://api.openai.com/v1",
            "api_key": _text(chosen.openai_api_key if own else None),
        }

    def _kept(self, model: Any) -> Any:
        self.built.insert(0, model)  # an adapter is closed before what it adapts
        return model


def _text(key: SecretStr | None) -> str:
    text = key.get_secret_value().strip() if key is not None else ""
    return text or _NO_KEY
