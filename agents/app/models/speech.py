"""Builds the speech-to-text and text-to-speech models that the settings name.

The providers' plugins take half a second to import, so they are imported only where they are
configured.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from agents.app.declaration import named_faults
from agents.app.models.speech_settings import (
    CARTESIA,
    DEEPGRAM,
    OPENAI,
    agent_voices,
    missing_for_speech,
    model_hears,
    speech_faults,
    stt_provider,
    tts_provider,
)
from agents.app.setting_values import LOCAL, OPENAI_REALTIME, OPENAI_URL, key_text
from agents.app.settings import AppSettings, SettingsFaults

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from livekit.agents.stt import STT
    from livekit.agents.tts import TTS
    from livekit.agents.vad import VAD
    from livekit.agents.voice.turn import TurnHandlingOptions
    from openai import AsyncClient

    from agents.app.app import AnyApp
    from agents.app.local_speech.language_models import LanguageModels
    from agents.app.local_speech.recognizer import Recognizer

logger = logging.getLogger(__name__)

ATTEMPT_S = 5.0
"""How long one provider may take to answer before the fallback is asked, in seconds."""

MAX_TERMS = 100
"""The most words that are given to a speech-to-text model: providers accept no more."""


@dataclass(frozen=True)
class SpeechModels:
    """The speech models of a call; the caller closes them.

    Args:
        stt: The speech-to-text model; with a realtime language model its fallback, if any.
        vad: The voice activity detection model.
        tts_by_agent: The text-to-speech models of agents with a voice of their own, by agent name.
        turns: The turn detection.
        built: All models, to be closed.
        expect: Tells the speech-to-text model the expected kind of answer; ``None`` if it does not
            need that.
        model_hears: Whether the language model is a realtime one that is sent the user's audio.
        clients: The HTTP clients of models that do not close theirs, to be closed.
    """

    stt: "STT[Any] | None"
    tts: "TTS[Any]"
    vad: "VAD"
    tts_by_agent: "Mapping[str, TTS[Any]]"
    turns: "TurnHandlingOptions"
    built: "tuple[STT[Any] | TTS[Any], ...]"
    expect: Callable[[str], None] | None = None
    model_hears: bool = False
    clients: "tuple[AsyncClient, ...]" = ()

    async def aclose(self) -> None:
        """Close every model and client."""
        ends = await asyncio.gather(
            *(one.aclose() for one in self.built),
            *(one.close() for one in self.clients),
            return_exceptions=True,
        )
        for end in ends:
            if isinstance(end, Exception):  # one failure must not leave the others open
                logger.warning("speech model not closed: %s", type(end).__name__)


def language_models_of(
    app: "AnyApp", context: Any, settings: AppSettings
) -> "LanguageModels | None":
    """Build the language models of local speech-to-text; ``None`` if it is not configured.

    Args:
        app: The application, which declares users' sentences.
        context: The context of the rules.
        settings: The providers.

    Raises:
        InputError: They cannot be built.
    """
    if missing_for_speech(settings) or stt_provider(settings) != LOCAL:
        return None
    variable = settings.variable("stt")
    if app.rooms.sentences is None:
        raise SettingsFaults(
            [f"{variable}: {app.name} declares no sentences of users: set Rooms(sentences=...)"]
        )
    from agents.app.local_speech.language_models import language_models

    with named_faults("rooms.sentences", settings.secrets):
        sentences = app.rooms.sentences(context)
    try:
        models = replace(language_models(sentences), written=app.rooms.written)
    except (OSError, ValueError) as error:
        raise SettingsFaults([f"{variable}: no language models: {error}"]) from error
    if app.rooms.meaning is None:
        return models
    with named_faults("rooms.meaning", settings.secrets):
        return replace(models, meaning=app.rooms.meaning(context))


def load_recognizer(models: "LanguageModels | None") -> "Recognizer | None":
    """Load the recogniser of local speech-to-text: it takes a second, and blocks.

    Args:
        models: Its language models; ``None`` if it is not configured.
    """
    if models is None:
        return None
    from agents.app.local_speech.recognizer import Recognizer

    with suppress(ImportError, OSError, RuntimeError, ValueError):  # its calls tell their users
        return Recognizer(models)
    return None


@cache
def load_vad() -> "VAD":
    """Load the voice activity detection model, once per process: it takes a moment, and blocks."""
    from livekit.plugins import silero

    return silero.VAD.load()


def prepare_speech(settings: AppSettings) -> None:
    """Load everything that spoken calls need: later the loading would block a call's event loop."""
    if missing_for_speech(settings) or speech_faults(settings):
        return
    load_vad()
    from livekit.agents.tokenize.basic import hyphenate_word

    hyphenate_word("ready")  # its first call reads files


def speech_models(
    settings: AppSettings,
    *,
    agents: Iterable[str] = (),
    terms: Sequence[str] = (),
    language_models: "LanguageModels | None" = None,
    recognizer: "Recognizer | None" = None,
    http: "ClientSession | None" = None,
) -> SpeechModels | None:
    """Build the speech models; ``None`` if the settings do not name both providers.

    Args:
        settings: The providers and their keys.
        agents: The agents' names.
        terms: Words that the speech-to-text model should know, such as the names of products.
        language_models: Those of local speech-to-text, if it is configured.
        recognizer: Its recogniser, if it is loaded already, for one user.
        http: The HTTP session; a job's own without it.

    Raises:
        SettingsFaults: Everything that is wrong with these settings.
    """
    if faults := speech_faults(settings, agents):
        raise SettingsFaults(faults)
    if missing_for_speech(settings):
        return None
    from agents.handoff import turns_by

    vad = load_vad()
    build = _ModelBuilder(settings, vad, list(terms[:MAX_TERMS]), language_models, recognizer, http)
    stt = build.stt()
    tts = build.tts(settings.tts_voice, "tts_voice")
    tts_by_agent = {
        ours: build.tts(theirs, "tts_voices") for ours, theirs in agent_voices(settings).items()
    }
    models = tuple(build.built)
    return SpeechModels(
        stt,
        tts,
        vad,
        tts_by_agent,
        turns_by(vad),
        models,
        build.expect,
        model_hears=model_hears(settings),
        clients=tuple(build.clients),
    )


@dataclass
class _ModelBuilder:  # ``Any`` because the plugins' models have type parameters that do not matter here
    settings: AppSettings
    vad: "VAD"
    terms: list[str]
    language_models: "LanguageModels | None"
    recognizer: "Recognizer | None"
    http: "ClientSession | None"

    def __post_init__(self) -> None:
        self.expect: Callable[[str], None] | None = None
        self.built: list[STT[Any] | TTS[Any]] = []
        self.clients: list[AsyncClient] = []
        self._fallback_tts: Any = None

    def stt(self) -> Any:
        """Build the speech-to-text model with its fallback."""
        from livekit.agents.stt import FallbackAdapter

        chosen = self.settings
        provider, second = stt_provider(chosen), chosen.stt_fallback
        if provider == OPENAI_REALTIME:
            return None if second is None else self._fallback_stt(second)
        first = self._stt(provider, chosen.stt_model, chosen.stt_base_url)
        self._log_failures(first, provider, model="stt_model", address="stt_base_url")
        if second is None:
            return first
        return self._register(
            FallbackAdapter(
                [first, self._fallback_stt(second)],
                vad=self.vad,
                attempt_timeout=ATTEMPT_S,
                max_retry_per_stt=0,
            )
        )

    def tts(self, voice: str | None, setting: str) -> Any:
        """Build the text-to-speech model for one voice, with its fallback.

        Args:
            voice: The voice.
            setting: The setting that names it.
        """
        chosen = self.settings
        provider = tts_provider(chosen)
        first = self._tts(provider, chosen.tts_model, chosen.tts_base_url, voice)
        self._log_failures(
            first, provider, model="tts_model", voice=setting, address="tts_base_url"
        )
        if chosen.tts_fallback is None:
            return first
        from agents.app.models.fallback_tts import FallbackTTS

        if self._fallback_tts is None:
            second, model = chosen.tts_fallback, chosen.tts_fallback_model
            self._fallback_tts = self._tts(second, model, None, chosen.tts_fallback_voice)
            self._log_failures(
                self._fallback_tts, second, model="tts_fallback_model", voice="tts_fallback_voice"
            )
        return self._register(FallbackTTS([first, self._fallback_tts], max_retry_per_tts=0))

    def _fallback_stt(self, provider: str) -> Any:
        second = self._stt(provider, self.settings.stt_fallback_model, None)
        self._log_failures(second, provider, model="stt_fallback_model")
        return second

    def _log_failures(self, model_built: Any, provider: str | None, **names: str) -> None:
        """Log the failures of a provider's model, with their cause."""
        from agents.app.models.speech_failures import SpeechFailures

        if provider in (DEEPGRAM, CARTESIA, OPENAI):
            model_built.on("error", SpeechFailures(self.settings, provider, **names).failed)

    def _stt(self, provider: str | None, model: str | None, url: str | None) -> Any:
        chosen = self.settings
        if provider == LOCAL:
            return self._local_stt()
        options: dict[str, Any] = {"language": chosen.language}
        if model is not None:
            options["model"] = model
        if provider == OPENAI:
            from livekit.plugins import openai
            from openai import AsyncClient

            # livekit-agents 1.8.9 does not close the client that its STT makes.
            client = AsyncClient(**self._openai(url), max_retries=0)
            self.clients.append(client)
            # One request per segment of speech: all that compatible servers support.
            return self._register(openai.STT(**options, client=client, use_realtime=False))
        from livekit.plugins import deepgram

        if url is not None:
            options["base_url"] = f"{url.removesuffix('/listen').removesuffix('/v1')}/v1/listen"
        if self.terms and options.get("model", "nova-3").startswith("nova-3"):
            options["keyterm"] = self.terms
        return self._register(
            deepgram.STT(
                **options, api_key=key_text(chosen.deepgram_api_key), http_session=self.http
            )
        )

    def _tts(
        self, provider: str | None, model: str | None, url: str | None, voice: str | None
    ) -> Any:
        chosen = self.settings
        if provider == LOCAL:
            return self._local_tts(voice)
        options: dict[str, Any] = {}
        if model is not None:
            options["model"] = model
        if voice is not None:
            options["voice"] = voice
        if provider == OPENAI:
            from livekit.plugins import openai

            return self._register(openai.TTS(**options, **self._openai(url)))
        from livekit.plugins import cartesia

        if url is not None:
            options["base_url"] = url
        return self._register(
            cartesia.TTS(
                **options,
                language=chosen.language,
                api_key=key_text(chosen.cartesia_api_key),
                word_timestamps=False,
                http_session=self.http,
            )
        )

    def _local_stt(self) -> Any:
        from agents.app.local_speech.local_stt import LocalSTT

        if self.language_models is None:
            variable = self.settings.variable("stt")
            raise SettingsFaults([f"{variable}: the language models were not built"])
        stt = LocalSTT(self.language_models, self.vad, recognizer=self.recognizer)
        self.expect = stt.expect
        return self._register(stt)

    def _local_tts(self, voice: str | None) -> Any:
        from agents.app.local_speech.local_tts import LocalTTS
        from agents.app.local_speech.voices import VoiceFault, find_voice

        try:
            return self._register(LocalTTS(find_voice(self.settings.tts_model, voice)))
        except VoiceFault as wrong:
            raise SettingsFaults([f"{self.settings.variable('tts_voice')}: {wrong}"]) from wrong

    def _openai(self, url: str | None) -> dict[str, Any]:
        """Return the address and the key for OpenAI's API: the key is sent only to its own server."""
        chosen = self.settings
        own = url in (None, chosen.openai_base_url)
        return {
            "base_url": url or chosen.openai_base_url or OPENAI_URL,
            "api_key": key_text(chosen.openai_api_key if own else None),
        }

    def _register(self, model: Any) -> Any:
        self.built.insert(0, model)  # so that an adapter is closed before its models
        return model
