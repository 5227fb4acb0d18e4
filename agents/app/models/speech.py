"""Builds the speech-to-text and text-to-speech models that the settings name.

The providers' plugins take half a second to import, so they are imported only for a call with
speech.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import SecretStr

from agents.app.declaration import named_faults
from agents.app.importing import missing_extra, missing_modules
from agents.app.models.turn_taking import turn_taking_faults
from agents.app.setting_values import LOCAL, OPENAI_REALTIME, check_key, needs_key
from agents.app.settings import AppSettings, SettingsFaults

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from livekit.agents.stt import STT
    from livekit.agents.tts import TTS
    from livekit.agents.vad import VAD
    from livekit.agents.voice.turn import TurnHandlingOptions

    from agents.app.app import AnyApp
    from agents.app.local_speech.language_models import LanguageModels

logger = logging.getLogger(__name__)

_Settings = TypeVar("_Settings", bound=AppSettings)

DEEPGRAM, CARTESIA, OPENAI, NONE = "deepgram", "cartesia", "openai", "none"

FOR_TRYING = (
    "speech on this machine is for trying and testing: it mishears more than a provider does"
)

HEARS_CARDS = (
    "the realtime model is sent users' speech as sound: card numbers that are spoken reach its"
    " provider"
)

ATTEMPT_S = 5.0
"""How long one provider may take to answer before the fallback is asked, in seconds."""

MAX_TERMS = 100
"""How many words are given to the speech-to-text model: providers accept no more."""

_NO_KEY = "no-key"
"""The key for a server that needs none: the client requires a value."""


@dataclass(frozen=True)
class SpeechModels:
    """The speech models of a call; the caller closes them.

    Args:
        stt: The speech-to-text model; where the language model hears, its fallback or none.
        tts: The text-to-speech model.
        vad: The voice activity detection model.
        tts_by_agent: The text-to-speech models of agents with a voice of their own, by agent name.
        turns: The turn detection.
        built: All models, to be closed.
        expect: Tells the speech-to-text model which kind of answer is expected; ``None`` if it has
            no use for that.
        model_hears: Whether the language model is a realtime one that is sent the user's audio.
    """

    stt: "STT[Any] | None"
    tts: "TTS[Any]"
    vad: "VAD"
    tts_by_agent: "Mapping[str, TTS[Any]]"
    turns: "TurnHandlingOptions"
    built: "tuple[STT[Any] | TTS[Any], ...]"
    expect: Callable[[str], None] | None = None
    model_hears: bool = False

    async def aclose(self) -> None:
        """Close every model."""
        ends = await asyncio.gather(*(one.aclose() for one in self.built), return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):  # one failure must not leave the others open
                logger.warning("speech model not closed: %s", type(end).__name__)


def stt_provider(settings: AppSettings) -> str | None:
    """Return the speech-to-text provider; ``None`` if none is named and Deepgram's key is not set.

    A realtime model hears by itself, unless a provider is named.
    """
    if settings.stt is None and settings.model == OPENAI_REALTIME:
        return OPENAI_REALTIME
    return _chosen(settings.stt, DEEPGRAM, settings.deepgram_api_key)


def tts_provider(settings: AppSettings) -> str | None:
    """Return the text-to-speech provider; ``None`` if none is named and Cartesia's key is not set."""
    return _chosen(settings.tts, CARTESIA, settings.cartesia_api_key)


def _chosen(named: str | None, usual: str, key: SecretStr | None) -> str | None:
    if named is None:
        return usual if key is not None and key.get_secret_value().strip() else None
    return None if named == NONE else named


def missing_for_speech(settings: AppSettings) -> tuple[str, ...]:
    """List the settings whose absence makes rooms text only; empty if speech is configured.

    >>> from agents.app.settings import settings_of
    >>> missing_for_speech(settings_of("front-desk")(stt="openai", tts="none"))
    ('FRONT_DESK_TTS',)
    """
    missing = []
    if stt_provider(settings) is None:
        missing.append("stt" if settings.stt == NONE else "deepgram_api_key")
    if tts_provider(settings) is None:
        missing.append("tts" if settings.tts == NONE else "cartesia_api_key")
    return tuple(settings.variable(name) for name in missing)


def speech_plugins(settings: AppSettings) -> tuple[str, ...]:
    """List livekit's plugins that the speech settings need; none if rooms are text only."""
    if missing_for_speech(settings):
        return ()
    named = (stt_provider(settings), tts_provider(settings))
    fallbacks = (settings.stt_fallback, settings.tts_fallback)
    plugins = dict.fromkeys(
        name for name in (*named, *fallbacks) if name not in (None, LOCAL, OPENAI_REALTIME)
    )
    return ("silero", *filter(None, plugins))


def speech_faults(settings: AppSettings, agents: Iterable[str] = ()) -> tuple[str, ...]:
    """List everything that is wrong with the speech settings, by variable.

    Args:
        settings: All of them.
        agents: The agents' names; without them voices' agents are not checked.
    """
    faults = []
    asked: dict[str, list[str | None]] = {DEEPGRAM: [], CARTESIA: [], OPENAI: []}
    for kind, provider, fallback, url in (
        ("stt", stt_provider(settings), settings.stt_fallback, settings.stt_base_url),
        ("tts", tts_provider(settings), settings.tts_fallback, settings.tts_base_url),
    ):
        if provider is None:
            continue
        if provider not in (LOCAL, OPENAI_REALTIME):  # those have no key of their own
            asked[provider].append(url)
        if fallback is not None:
            asked[fallback].append(None)
            if fallback == provider:
                faults.append(
                    f"{settings.variable(f'{kind}_fallback')}: is the first provider already"
                )
    faults += [
        fault
        for provider, urls in asked.items()
        if urls and (fault := _key_fault(settings, provider, urls)) is not None
    ]
    if told := missing_extra("speech", speech_plugins(settings)):
        faults.append(told)
    if not missing_for_speech(settings):
        faults += _local_faults(settings)
    faults += turn_taking_faults(settings)
    known = tuple(agents)
    unknown = [name for name in agent_voices(settings) if known and name not in known]
    if unknown:
        faults.append(
            f"{settings.variable('tts_voices')}: there is no agent {', '.join(unknown)}:"
            f" there are {', '.join(known)}"
        )
    return tuple(faults)


def _key_fault(settings: AppSettings, provider: str, urls: Sequence[str | None]) -> str | None:
    name = f"{provider}_api_key"
    key: SecretStr | None = getattr(settings, name)
    if key is None or not key.get_secret_value().strip():
        if provider == OPENAI:
            wanted = any(needs_key(url or settings.openai_base_url) for url in urls)
        else:
            wanted = None in urls
        return (
            f"{settings.variable(name)}: is not set, but {provider} is configured"
            if wanted
            else None
        )
    try:
        check_key(key)
    except ValueError as error:
        return f"{settings.variable(name)}: {error}"
    return None


def _local_faults(settings: AppSettings) -> list[str]:
    faults = []
    if stt_provider(settings) == LOCAL:
        if told := missing_modules("local-speech", {"pocketsphinx": "pocketsphinx"}):
            faults.append(told)
        if settings.language.partition("-")[0] != "en":
            faults.append(f"{settings.variable('language')}: local speech-to-text is English only")
    if tts_provider(settings) == LOCAL:
        from agents.app.local_speech.voices import VoiceFault, find_voice

        for name, voice in {"tts_voice": settings.tts_voice, **agent_voices(settings)}.items():
            field = "tts_voice" if name == "tts_voice" else "tts_voices"
            try:
                find_voice(settings.tts_model, voice)
            except VoiceFault as wrong:
                told = f"{settings.variable(field)}: {wrong}"
                faults += [told] if told not in faults else []
    return faults


def model_hears(settings: AppSettings) -> bool:
    """Whether rooms have speech, and users' audio is sent to a realtime model."""
    return stt_provider(settings) == OPENAI_REALTIME and not missing_for_speech(settings)


def uses_local(settings: AppSettings) -> bool:
    """Whether rooms have speech, and a part of it is made on this machine."""
    providers = (stt_provider(settings), tts_provider(settings))
    return LOCAL in providers and not missing_for_speech(settings)


def with_local_speech(settings: AppSettings) -> dict[str, str]:
    """Return the environment variables that choose local speech where no provider is named."""
    chosen = {"stt": stt_provider(settings), "tts": tts_provider(settings)}
    return {
        settings.variable(kind): LOCAL
        for kind, provider in chosen.items()
        if provider is None and getattr(settings, kind) is None
    }


def language_models_of(
    app: "AnyApp", context: Any, settings: AppSettings
) -> "LanguageModels | None":
    """Make the language models of local speech-to-text, once; ``None`` if it is not configured.

    Args:
        app: The application: it tells what users may say.
        context: The context of the rules.
        settings: The providers.

    Raises:
        InputError: They cannot be made.
    """
    if missing_for_speech(settings) or stt_provider(settings) != LOCAL:
        return None
    variable = settings.variable("stt")
    if app.rooms.sentences is None:
        raise SettingsFaults(
            [f"{variable}: {app.name} does not tell what users may say: Rooms(sentences=...)"]
        )
    from agents.app.local_speech.language_models import language_models

    with named_faults("rooms.sentences", settings.secrets):
        sentences = app.rooms.sentences(context)
    try:
        return replace(language_models(sentences), written=app.rooms.written)
    except (OSError, ValueError) as error:
        raise SettingsFaults([f"{variable}: no language models: {error}"]) from error


def agent_voices(settings: AppSettings) -> dict[str, str]:
    """Return the provider's voice of each agent with a voice of its own.

    >>> agent_voices(AppSettings(tts_voices="payment=calm, feedback = warm"))
    {'payment': 'calm', 'feedback': 'warm'}
    """
    pairs = (pair.partition("=") for pair in settings.tts_voices.split(",") if pair.strip())
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def worker_settings(
    form: type[_Settings], *, agents: Iterable[str] = (), **options: object
) -> _Settings:
    """Read the settings of a worker, with the speech settings checked.

    Args:
        form: The application's settings.
        agents: The agents' names.
        options: Command-line options by name; ``None`` means not given.

    Raises:
        SettingsFaults: Everything that is wrong, each naming what to change.
    """
    try:
        settings = form.read_for_rooms(**options)
    except SettingsFaults as wrong:
        faults = wrong.faults
        usable = form.usable(**options)
        if usable is not None and not any(map(_of_speech, usable[1])):
            faults += speech_faults(usable[0], agents)
        raise SettingsFaults(faults) from None
    if found := speech_faults(settings, agents):
        raise SettingsFaults(found)
    return settings


def _of_speech(field: str) -> bool:
    return field.startswith(("stt", "tts", "deepgram", "cartesia", "openai"))


@cache
def load_vad() -> "VAD":
    """Load the voice activity detection model, once per process: it takes a moment, and blocks."""
    from livekit.plugins import silero

    return silero.VAD.load()


def speech_models(
    settings: AppSettings,
    *,
    agents: Iterable[str] = (),
    terms: Sequence[str] = (),
    language_models: "LanguageModels | None" = None,
    http: "ClientSession | None" = None,
) -> SpeechModels | None:
    """Build the speech models; ``None`` if the settings do not name both providers.

    Args:
        settings: The providers and their keys.
        agents: The agents' names.
        terms: Words that the speech-to-text model should know, such as the names of dishes.
        language_models: Those of local speech-to-text, if it is configured.
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
    build = _ModelBuilder(settings, vad, list(terms[:MAX_TERMS]), language_models, http)
    stt = build.stt()
    tts = build.tts(settings.tts_voice)
    tts_by_agent = {ours: build.tts(theirs) for ours, theirs in agent_voices(settings).items()}
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
    )


@dataclass
class _ModelBuilder:  # ``Any`` because the plugins' models have type parameters that do not matter here
    settings: AppSettings
    vad: "VAD"
    terms: list[str]
    language_models: "LanguageModels | None"
    http: "ClientSession | None"

    def __post_init__(self) -> None:
        self.expect: Callable[[str], None] | None = None
        self.built: list[STT[Any] | TTS[Any]] = []
        self._second: Any = None

    def stt(self) -> Any:
        """Build the speech-to-text model with its fallback."""
        from livekit.agents.stt import FallbackAdapter

        chosen = self.settings
        provider, second = stt_provider(chosen), chosen.stt_fallback
        if provider == OPENAI_REALTIME:
            return None if second is None else self._stt(second, chosen.stt_fallback_model, None)
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
        """Build the text-to-speech model for one voice, with its fallback."""
        from livekit.agents.tts import FallbackAdapter

        chosen = self.settings
        first = self._tts(tts_provider(chosen), chosen.tts_model, chosen.tts_base_url, voice)
        if chosen.tts_fallback is None:
            return first
        second = self._second or self._tts(
            chosen.tts_fallback, chosen.tts_fallback_model, None, chosen.tts_fallback_voice
        )
        self._second = second
        return self._kept(FallbackAdapter([first, second], max_retry_per_tts=0))

    def _stt(self, provider: str | None, model: str | None, url: str | None) -> Any:
        chosen = self.settings
        if provider == LOCAL:
            return self._local_stt()
        said: dict[str, Any] = {"language": chosen.language}
        if model is not None:
            said["model"] = model
        if provider == OPENAI:
            from livekit.plugins import openai

            # One request per segment of speech: all that compatible servers support.
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
        if provider == LOCAL:
            return self._local_tts(voice)
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

    def _local_stt(self) -> Any:
        from agents.app.local_speech.local_stt import LocalSTT

        if self.language_models is None:
            variable = self.settings.variable("stt")
            raise SettingsFaults([f"{variable}: there are no language models"])
        stt = LocalSTT(self.language_models, self.vad)
        self.expect = stt.expect
        return self._kept(stt)

    def _local_tts(self, voice: str | None) -> Any:
        from agents.app.local_speech.local_tts import LocalTTS
        from agents.app.local_speech.voices import VoiceFault, find_voice

        try:
            return self._kept(LocalTTS(find_voice(self.settings.tts_model, voice)))
        except VoiceFault as wrong:
            raise SettingsFaults([f"{self.settings.variable('tts_voice')}: {wrong}"]) from wrong

    def _openai(self, url: str | None) -> dict[str, Any]:
        """Return the address and the key for OpenAI's protocol: a key goes to its own server only."""
        chosen = self.settings
        own = url in (None, chosen.openai_base_url)
        return {
            "base_url": url or chosen.openai_base_url or "https://api.openai.com/v1",
            "api_key": _text(chosen.openai_api_key if own else None),
        }

    def _kept(self, model: Any) -> Any:
        self.built.insert(0, model)  # an adapter is closed before the models behind it
        return model


def _text(key: SecretStr | None) -> str:
    text = key.get_secret_value().strip() if key is not None else ""
    return text or _NO_KEY
