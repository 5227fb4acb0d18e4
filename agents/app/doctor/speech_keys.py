"""Checks whether the speech providers accept the keys that are set."""

from collections.abc import Iterator
from dataclasses import dataclass

import aiohttp
from pydantic import SecretStr

from agents.app.doctor.findings import ANSWER_TIMEOUT, Finding, fault, ok, warning
from agents.app.doctor.models import check_openai_model
from agents.app.models.speech_settings import (
    CARTESIA,
    DEEPGRAM,
    OPENAI,
    missing_for_speech,
    speech_faults,
    stt_provider,
    tts_provider,
)
from agents.app.setting_values import key_text
from agents.app.settings import AppSettings

_MODELS = {"stt": "gpt-4o-mini-transcribe", "tts": "gpt-4o-mini-tts"}
"""OpenAI's default models."""

_CARTESIA_VERSION = "2025-04-16"


@dataclass(frozen=True)
class _Provider:
    """A speech provider in the settings.

    Args:
        about: Its role: ``STT``, ``TTS``, or the fallback of either.
        name: Its name.
        setting: The setting of its model's name.
        url: Its server; the provider's own if not set.
    """

    about: str
    name: str
    setting: str
    url: str | None


async def check_speech_keys(settings: AppSettings) -> list[Finding]:
    """Send each speech provider a cheap request that needs its key.

    A key that is not set is not checked here: another server may need none.
    """
    if missing_for_speech(settings) or speech_faults(settings):
        return []  # the settings are reported by themselves
    return [
        found
        for provider in _providers(settings)
        if (found := await _check(settings, provider)) is not None
    ]


def _providers(settings: AppSettings) -> Iterator[_Provider]:
    for kind, first in (("stt", stt_provider(settings)), ("tts", tts_provider(settings))):
        url, fallback = getattr(settings, f"{kind}_base_url"), getattr(settings, f"{kind}_fallback")
        for about, name, setting, server in (
            (kind.upper(), first, f"{kind}_model", url),
            (f"{kind.upper()} fallback", fallback, f"{kind}_fallback_model", None),
        ):
            if name in (DEEPGRAM, CARTESIA, OPENAI):
                yield _Provider(about, name, setting, server)


async def _check(settings: AppSettings, provider: _Provider) -> Finding | None:
    setting = f"{provider.name}_api_key"
    key: SecretStr | None = getattr(settings, setting)
    if provider.name == OPENAI:
        own = provider.url in (None, settings.openai_base_url)
        kind = provider.setting.partition("_")[0]
        return await check_openai_model(
            provider.about,
            provider.url or settings.openai_base_url,
            getattr(settings, provider.setting) or _MODELS[kind],
            key if own else None,
            settings.variable(provider.setting),
        )
    if key is None:
        return None
    text, url = key_text(key), (provider.url or "").rstrip("/")
    if provider.name == DEEPGRAM:
        url = url.removesuffix("/listen").removesuffix("/v1") or "https://api.deepgram.com"
        path, headers = "/v1/projects", {"Authorization": f"Token {text}"}
    else:
        url = url or "https://api.cartesia.ai"
        path, headers = (
            "/voices?limit=1",
            {"X-API-Key": text, "Cartesia-Version": _CARTESIA_VERSION},
        )
    return await _ask(provider.about, url, path, headers, settings.variable(setting))


async def _ask(about: str, url: str, path: str, headers: dict[str, str], variable: str) -> Finding:
    try:
        async with (
            aiohttp.ClientSession(timeout=ANSWER_TIMEOUT, trust_env=True) as session,
            session.get(f"{url}{path}", headers=headers, allow_redirects=False) as answer,
        ):
            status = answer.status
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
        return fault(about, f"{url} does not answer: check the address, and that the server runs")
    if status == 401:
        return fault(about, f"{url} rejects the key: set a valid one in {variable}")
    if status != 200:  # a key that may not send this request may still be valid for speech
        return warning(about, f"{url} answers, but not whether it accepts {variable} ({status})")
    return ok(about, f"{url}, key accepted")
