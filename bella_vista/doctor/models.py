"""Whether there is a model to think with, and speech models where calls are spoken."""

from pathlib import Path
from typing import Any

import aiohttp
from pydantic import SecretStr

from bella_vista.doctor.asking import time_limit
from bella_vista.doctor.findings import Finding, fault, ok, warning
from bella_vista.setting_values import LOCAL, OPENAI, SCRIPT, needs_key
from bella_vista.settings import Settings
from bella_vista.speech_models import hears, missing_for_speech, speaks, speech_faults

_OPENAI_URL = "https://api.openai.com/v1"


async def look_at_models(settings: Settings) -> list[Finding]:
    """Ask for each language model whether its server would answer us."""
    if settings.model == LOCAL:
        return [ok("language model", "the local one needs nothing")]
    if settings.model.startswith(SCRIPT):
        return [_look_at_script(Path(settings.model.removeprefix(SCRIPT)))]
    if settings.model != OPENAI:
        return []
    first = await _look_at_model(
        "language model",
        settings.openai_base_url,
        settings.openai_model,
        settings.openai_api_key,
    )
    if settings.openai_fallback_model is None and settings.openai_fallback_base_url is None:
        return [first]
    elsewhere = settings.openai_fallback_base_url
    second = await _look_at_model(
        "second language model",
        elsewhere or settings.openai_base_url,
        settings.openai_fallback_model or settings.openai_model,
        settings.openai_fallback_api_key
        or (settings.openai_api_key if elsewhere is None else None),
    )
    return [first, second]


def _look_at_script(file: Path) -> Finding:
    if not file.expanduser().is_file():
        return fault("language model", f"there is no script {file}")
    return warning("language model", f"plays {file}: nobody understands what guests say")


async def _look_at_model(
    about: str, base_url: str | None, model: str, key: SecretStr | None
) -> Finding:
    if key is None and needs_key(base_url):
        return fault(about, "no key is set: put it into OPENAI_API_KEY")
    url = (base_url or _OPENAI_URL).rstrip("/")
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key is not None else {}
    try:
        async with (
            aiohttp.ClientSession(timeout=time_limit(), trust_env=True) as session,
            session.get(f"{url}/models", headers=headers) as answer,
        ):
            status = answer.status
            known = _names(await answer.json(content_type=None)) if status == 200 else set()
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
        return fault(about, f"{url} does not answer: is it the right address, and is it running?")
    if status in (401, 403):
        return fault(about, f"{url} does not accept the key: set one that is valid")
    if status != 200:  # not every compatible server can list its models
        return warning(about, f"{url} answers, but does not list its models ({status})")
    if known and model not in known:
        return fault(about, f"{url} has no model {model}: set BELLA_VISTA_OPENAI_MODEL")
    return ok(about, f"{model} at {url}{', key accepted' if key is not None else ''}")


def _names(listed: Any) -> set[str]:
    models = listed.get("data", ()) if isinstance(listed, dict) else ()
    return {str(one.get("id")) for one in models if isinstance(one, dict)}


def look_at_speech(settings: Settings) -> list[Finding]:
    """Look whether calls can be spoken, and with whom; what a provider says to a key only a call shows."""
    if missing := missing_for_speech(settings):
        return [ok("speech", f"rooms are text only; not set for more: {', '.join(missing)}")]
    if wrong := speech_faults(settings):
        return [fault("speech", told) for told in wrong]
    return [ok("speech", f"{hears(settings)} hears, {speaks(settings)} speaks")]
