"""Language models with OpenAI's chat completions API, of OpenAI or any compatible server.

They use LiveKit's plugin. This module adds a timeout for the first word, detection of truncated
replies, a fallback model, and the cleanup of background tasks.
"""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

import httpx2 as httpx
from livekit.agents import APIConnectOptions, APITimeoutError
from livekit.agents.llm import LLM, ChatChunk, FallbackAdapter, LLMError
from livekit.plugins import openai
from pydantic import SecretStr

from agents.app.setting_values import OPENAI_URL, key_text, needs_key
from agents.app.settings import AppSettings, SettingsFaults
from agents.handoff import ModelFailure, why_model_failed

logger = logging.getLogger(__name__)

RETRIES = 2
"""How often a single model is retried after a quick failure: after 0.1 s, then after 1 s."""

_LOCAL_SHARE = 0.5

_FINISH_FAULTS = {
    "length": "its reply was cut off at the longest it may be",
    "content_filter": "its reply was withheld by a filter",
}


class OpenAIModel(openai.LLM):
    """One model at one server, with its own timeouts in any session.

    Args:
        base_url: The server's address; OpenAI's own without it.
        api_key: The key, if the server requires one.
        attempt_s: The timeout for the first word, and for each pause after it, in seconds.
        retries: How often it is retried.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None,
        api_key: SecretStr | None,
        attempt_s: float,
        retries: int,
    ) -> None:
        super().__init__(
            model=model,
            api_key=key_text(api_key),
            base_url=base_url or OPENAI_URL,
            timeout=httpx.Timeout(attempt_s),
        )
        self.reply_limit_s = attempt_s
        self.retries = retries
        self._connect = APIConnectOptions(max_retry=0, timeout=attempt_s)

    def chat(self, **kwargs: Any) -> Any:  # the plugin's own arguments; one of them is replaced
        """Request a reply within this model's own limits; the agent retries ``retries`` times."""
        stream = super().chat(**{**kwargs, "conn_options": self._connect})
        _guard(stream, self._connect.timeout)
        return stream


class OpenAIModels(FallbackAdapter):
    """Several models, tried in turn until one answers; livekit probes failed ones in the background.

    Args:
        models: The models, in order.
        attempt_s: The timeout for each, in seconds.
        reply_limit_s: The timeout for all of them together, in seconds.
    """

    def __init__(
        self, models: Sequence[LLM[Any]], *, attempt_s: float, reply_limit_s: float
    ) -> None:
        super().__init__(list(models), attempt_timeout=attempt_s, max_retry_per_llm=0)
        self.reply_limit_s = reply_limit_s
        self.retries = 0  # after the failure of all of them no time is left
        self._models = tuple(models)
        for model in self._models:
            model.on("error", partial(_log_failure, model))

    async def aclose(self) -> None:
        """Close every model and cancel the probes of failed ones."""
        # livekit-agents 1.8.9 does neither; its tasks are in a private attribute.
        tasks = [one.recovering_task for one in self._status if one.recovering_task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await super().aclose()
        for model in self._models:
            await model.aclose()


def _log_failure(model: LLM[Any], error: LLMError) -> None:
    if not error.recoverable:
        why = why_model_failed(error.error)
        logger.warning(
            "language model failed, trying the next: %s at %s: %s", model.model, model.provider, why
        )


def openai_model(settings: AppSettings, local: LLM[Any] | None, *, hears: bool = False) -> LLM[Any]:
    """Build the model or models that the settings name.

    Args:
        settings: The models and the reply limit, validated for the model ``openai``.
        local: The local model, if it is the last fallback.
        hears: Whether the first model is the realtime one.

    Raises:
        SettingsFaults: The fallback server's key is missing, or the client cannot work in this
            environment.
    """
    try:
        return _models(settings, local, hears=hears)
    except (ImportError, OSError, ValueError, httpx.InvalidURL) as error:
        # The client itself reads ALL_PROXY, HTTPS_PROXY and SSL_CERT_FILE.
        raise SettingsFaults(
            [
                f"--model {settings.model}: the client cannot be created ({type(error).__name__}): check the proxy and"
                " certificate settings in the environment"
            ]
        ) from error


def _models(settings: AppSettings, local: LLM[Any] | None, *, hears: bool) -> LLM[Any]:
    chosen = _chosen(settings)
    if len(chosen) == 1 and local is None:
        if hears:
            return _realtime(settings, settings.openai_patience, RETRIES)
        return OpenAIModel(**chosen[0], attempt_s=settings.openai_patience, retries=RETRIES)
    # The reply limit is for all models together, so each gets a share of it; the local model needs
    # little.
    attempt_s = settings.openai_patience / (len(chosen) + (_LOCAL_SHARE if local else 0))
    first: LLM[Any] = (
        _realtime(settings, attempt_s, 0)
        if hears
        else OpenAIModel(**chosen[0], attempt_s=attempt_s, retries=0)
    )
    others = (OpenAIModel(**one, attempt_s=attempt_s, retries=0) for one in chosen[1:])
    models: list[LLM[Any]] = [first, *others]
    return OpenAIModels(
        [*models, local] if local is not None else models,
        attempt_s=attempt_s,
        reply_limit_s=settings.openai_patience,
    )


def _realtime(settings: AppSettings, attempt_s: float, retries: int) -> LLM[Any]:
    from agents.app.models.realtime import RealtimeLLM

    return RealtimeLLM(
        settings.openai_realtime_model,
        transcription=settings.openai_realtime_transcription,
        language=settings.language,
        base_url=settings.openai_base_url,
        api_key=settings.openai_api_key,
        attempt_s=attempt_s,
        retries=retries,
    )


def _chosen(settings: AppSettings) -> list[dict[str, Any]]:
    first = {
        "model": settings.openai_model,
        "base_url": settings.openai_base_url,
        "api_key": settings.openai_api_key,
    }
    chosen = [first]
    elsewhere = settings.openai_fallback_base_url
    if settings.openai_fallback_model is not None or elsewhere is not None:
        key = settings.openai_fallback_api_key
        if key is None and elsewhere in (None, settings.openai_base_url):
            key = settings.openai_api_key
        chosen.append(
            {
                "model": settings.openai_fallback_model or settings.openai_model,
                "base_url": elsewhere or settings.openai_base_url,
                "api_key": key,
            }
        )
        if elsewhere is not None and key is None and needs_key(elsewhere):
            name = settings.variable("openai_fallback_api_key")
            raise SettingsFaults([f"{name}: is not set: this server requires a key"])
    return chosen


# -- one attempt ---------------------------------------------------------------------------------------


def _guard(stream: Any, attempt_s: float) -> None:
    """Limit the wait for the first word, and detect a reply that ends without a finish reason.

    The plugin of 1.8.9 has a read timeout only, which keep-alives of a server reset. It also treats a
    stream that breaks off as complete, and drops an unfinished tool call without an error. The
    stream's task has not started yet, so it will use the methods replaced here.
    """
    run, parse = stream._run, stream._parse_choice

    async def watched() -> None:
        ended: list[str] = []
        spoke = False
        waiting = asyncio.timeout(attempt_s)

        def noticed(chunk_id: str, choice: Any, *more: Any) -> ChatChunk | None:
            nonlocal spoke
            if choice.finish_reason:
                ended.append(choice.finish_reason)
            chunk: ChatChunk | None = parse(chunk_id, choice, *more)
            calls = choice.delta is not None and bool(choice.delta.tool_calls)
            spoke = spoke or calls or (chunk is not None and chunk.has_response())
            if spoke and waiting.when() is not None and not waiting.expired():
                waiting.reschedule(None)
            return chunk

        stream._parse_choice = noticed
        try:
            async with waiting:
                await run()
        except (TimeoutError, APITimeoutError) as error:
            # No time is left for another attempt.
            raise APITimeoutError(retryable=False) from error
        if (cut := _FINISH_FAULTS.get(ended[-1]) if ended else None) is not None:
            raise ModelFailure(cut, retryable=False)
        if not ended or stream._tool_call_id is not None:
            raise ModelFailure("its reply broke off", retryable=not spoke)

    stream._run = watched
