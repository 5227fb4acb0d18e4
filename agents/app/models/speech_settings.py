"""The speech models that the settings name, and the faults of these settings."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from pydantic import SecretStr

from agents.app.importing import missing_extra, missing_modules
from agents.app.models.turn_taking import turn_taking_faults
from agents.app.setting_values import LOCAL, OPENAI_REALTIME, check_key, needs_key
from agents.app.settings import AppSettings, SettingsFaults

_Settings = TypeVar("_Settings", bound=AppSettings)

DEEPGRAM, CARTESIA, OPENAI, NONE = "deepgram", "cartesia", "openai", "none"

LOCAL_SPEECH_NOTE = (
    "speech on this machine is for trying and testing: it mishears more than a provider does"
)

REALTIME_NOTE = (
    "the realtime model is sent users' speech as sound: card numbers that are spoken reach its"
    " provider"
)


def stt_provider(settings: AppSettings) -> str | None:
    """Return the speech-to-text provider; ``None`` if none is named and Deepgram's key is not set.

    A realtime model transcribes the audio itself unless a provider is named.
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
        settings: The settings.
        agents: The agents' names; without them the agents of voices are not checked.
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
    if message := missing_extra("speech", speech_plugins(settings)):
        faults.append(message)
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
        if message := missing_modules("local-speech", {"pocketsphinx": "pocketsphinx"}):
            faults.append(message)
        if settings.language.partition("-")[0] != "en":
            faults.append(f"{settings.variable('language')}: local speech-to-text is English only")
    if tts_provider(settings) == LOCAL:
        from agents.app.local_speech.voices import VoiceFault, find_voice

        for name, voice in {"tts_voice": settings.tts_voice, **agent_voices(settings)}.items():
            field = "tts_voice" if name == "tts_voice" else "tts_voices"
            try:
                find_voice(settings.tts_model, voice)
            except VoiceFault as wrong:
                message = f"{settings.variable(field)}: {wrong}"
                faults += [message] if message not in faults else []
    return faults


def model_hears(settings: AppSettings) -> bool:
    """Whether rooms have speech, and users' audio is sent to a realtime model."""
    return stt_provider(settings) == OPENAI_REALTIME and not missing_for_speech(settings)


def uses_local(settings: AppSettings) -> bool:
    """Whether rooms have speech, and a part of it runs on this machine."""
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


def local_speech_faults(settings: AppSettings) -> tuple[str, ...] | None:
    """List the reasons why local speech cannot run on this machine; empty if it can.

    ``None`` if the settings name speech providers, or switch speech off.
    """
    if len(with_local_speech(settings)) < 2:
        return None
    return speech_faults(settings.model_copy(update={"stt": LOCAL, "tts": LOCAL}))


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
        SettingsFaults: All faults, each with the setting to change.
    """
    try:
        settings = form.read_for_rooms(**options)
    except SettingsFaults as wrong:
        faults = wrong.faults
        usable = form.usable(**options)
        if usable is not None and not any(map(_is_speech_setting, usable[1])):
            faults += speech_faults(usable[0], agents)
        raise SettingsFaults(faults) from None
    if found := speech_faults(settings, agents):
        raise SettingsFaults(found)
    return settings


def _is_speech_setting(field: str) -> bool:
    return field.startswith(("stt", "tts", "deepgram", "cartesia", "openai"))
