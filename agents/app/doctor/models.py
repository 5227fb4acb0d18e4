"""Checks the language model, and the speech models where they are configured."""

from importlib import import_module
from pathlib import Path
from typing import Any

import aiohttp
from pydantic import SecretStr

from agents.app.app import AnyApp
from agents.app.doctor.findings import ANSWER_TIMEOUT, Finding, fault, ok, warning
from agents.app.importing import missing_extra
from agents.app.models.speech_settings import (
    REALTIME_NOTE,
    missing_for_speech,
    model_hears,
    speech_faults,
    speech_plugins,
    stt_provider,
    tts_provider,
)
from agents.app.setting_values import (
    LOCAL,
    OPENAI_MODELS,
    OPENAI_REALTIME,
    OPENAI_URL,
    SCRIPT,
    needs_key,
)
from agents.app.settings import AppSettings


async def check_models(app: AnyApp, settings: AppSettings) -> list[Finding]:
    """Check each language model with a request to its server."""
    if settings.model == LOCAL and app.model is None:
        variable = settings.variable("model")
        message = f"{app.name} has no local model: set {variable} to openai, or to script:FILE"
        return [fault("language model", message)]
    if settings.model == LOCAL:
        return [ok("language model", "the local model needs nothing")]
    if settings.model.startswith(SCRIPT):
        return [_check_script(Path(settings.model.removeprefix(SCRIPT)))]
    if settings.model not in OPENAI_MODELS:
        return []
    if missing := missing_extra("openai", ("openai",)):
        return [fault("language model", missing)]
    hears = settings.model == OPENAI_REALTIME
    first = await check_openai_model(
        "language model",
        settings.openai_base_url,
        settings.openai_realtime_model if hears else settings.openai_model,
        settings.openai_api_key,
        settings.variable("openai_realtime_model" if hears else "openai_model"),
    )
    if settings.openai_fallback_model is None and settings.openai_fallback_base_url is None:
        return [first]
    elsewhere = settings.openai_fallback_base_url
    second = await check_openai_model(
        "second language model",
        elsewhere or settings.openai_base_url,
        settings.openai_fallback_model or settings.openai_model,
        settings.openai_fallback_api_key
        or (settings.openai_api_key if elsewhere is None else None),
        settings.variable("openai_fallback_model"),
    )
    return [first, second]


def _check_script(file: Path) -> Finding:
    if not file.expanduser().is_file():
        return fault("language model", f"there is no script {file}")
    return warning("language model", f"replays {file}: it does not understand what users say")


async def check_openai_model(
    about: str, base_url: str | None, model: str, key: SecretStr | None, variable: str
) -> Finding:
    """Check whether a server with OpenAI's API accepts the key and has the model.

    Args:
        about: The subject of the finding.
        base_url: The server; OpenAI's own if not set.
        model: The model's name.
        key: The key, if one is sent to this server.
        variable: The setting of the model's name.
    """
    if key is None and needs_key(base_url):
        return fault(about, "no key is set: put it into OPENAI_API_KEY")
    url = (base_url or OPENAI_URL).rstrip("/")
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key is not None else {}
    try:
        async with (
            aiohttp.ClientSession(timeout=ANSWER_TIMEOUT, trust_env=True) as session,
            session.get(f"{url}/models", headers=headers) as answer,
        ):
            status = answer.status
            known = _names(await answer.json(content_type=None)) if status == 200 else set()
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
        return fault(about, f"{url} does not answer: check the address, and that the server runs")
    if status in (401, 403):
        return fault(about, f"{url} rejects the key: set a valid one")
    if status != 200:  # not every compatible server lists its models
        return warning(about, f"{url} answers, but does not list its models ({status})")
    if known and model not in known:
        return fault(about, f"{url} has no model {model}: set {variable}")
    return ok(about, f"{model} at {url}{', key accepted' if key is not None else ''}")


def _names(listed: Any) -> set[str]:
    models = listed.get("data", ()) if isinstance(listed, dict) else ()
    return {str(one.get("id")) for one in models if isinstance(one, dict)}


def check_speech(settings: AppSettings) -> list[Finding]:
    """Check the speech settings, and that the plugins they need can be imported."""
    if missing := missing_for_speech(settings):
        return [ok("speech", f"rooms are text only; not set: {', '.join(missing)}")]
    if wrong := speech_faults(settings):
        return [fault("speech", message) for message in wrong]
    for name in speech_plugins(settings):
        try:
            import_module(f"livekit.plugins.{name}")
        except Exception as error:  # of any type: a call would raise it too
            message = f"livekit-plugins-{name} cannot be imported: {type(error).__name__}: {error}"
            return [fault("speech", message)]
    cards = [warning("privacy", REALTIME_NOTE)] if model_hears(settings) else []
    return [
        *cards,
        ok("speech", f"STT by {stt_provider(settings)}, TTS by {tts_provider(settings)}"),
    ]
