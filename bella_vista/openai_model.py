"""Language models that speak OpenAI's chat completions: OpenAI's own, and every compatible server's.

They go through LiveKit's plugin. What is added here: a limit on the wait for the first word, an eye on how a
reply ends, a second model, and an end to everything they keep running.
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

from agents.handoff import ModelFailure, why_model_failed
from bella_vista.setting_values import needs_key
from bella_vista.settings import Settings, SettingsFaults, variable

logger = logging.getLogger(__name__)

RETRIES = 2
"""How often a single model is asked again after a failure that came quickly: after 0.1 s, then after 1 s."""

_LOCAL_SHARE = 0.5

_NO_KEY = "no-key"
"""What is sent to a server that needs no key: the client insists on something."""

_CUT = {
    "length": "its reply was cut off at the longest it may be",
    "content_filter": "its reply was withheld by a filter",
}


class OpenAIModel(openai.LLM):
    """One model at one server, which knows how long it may take whatever session it answers in.

    Args:
        model: What it is called there.
        base_url: The server; OpenAI's own without it.
        api_key: The key, if the server wants one.
        attempt_s: How long an attempt may take to its first word, and be silent after it, in seconds.
        retries: How often it is asked again.
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
            api_key=api_key.get_secret_value() if api_key is not None else _NO_KEY,
            base_url=base_url or "https://api.openai.com/v1",
            timeout=httpx.Timeout(attempt_s),
        )
        self.patience_s = attempt_s
        self.retries = retries
        self._connect = APIConnectOptions(max_retry=0, timeout=attempt_s)

    def chat(self, **how: Any) -> Any:  # as the plugin declares it; only one argument is ours
        """Answer, within this model's own limits; an agent asks again, ``retries`` times."""
        stream = super().chat(**{**how, "conn_options": self._connect})
        _watch(stream, self._connect.timeout)
        return stream


class OpenAIModels(FallbackAdapter):
    """Several models, asked in turn until one answers; livekit tries those that failed again meanwhile.

    Args:
        models: The first is asked first.
        attempt_s: How long each may take, in seconds.
        patience_s: How long all of them together may take, in seconds.
    """

    def __init__(self, models: Sequence[LLM[Any]], *, attempt_s: float, patience_s: float) -> None:
        super().__init__(list(models), attempt_timeout=attempt_s, max_retry_per_llm=0)
        self.patience_s = patience_s
        self.retries = 0  # nothing is left of a guest's patience when all of them have been asked
        self._models = tuple(models)
        for model in self._models:
            model.on("error", partial(_tell, model))

    async def aclose(self) -> None:
        """Close every model and give up looking whether one has recovered."""
        # livekit-agents 1.8.9 closes neither and keeps these tasks where nobody else sees them.
        tasks = [one.recovering_task for one in self._status if one.recovering_task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await super().aclose()
        for model in self._models:
            await model.aclose()


def _tell(model: LLM[Any], error: LLMError) -> None:
    if not error.recoverable:
        why = why_model_failed(error.error)
        logger.warning("the model %s at %s failed: %s", model.model, model.provider, why)


def openai_model(settings: Settings, local: LLM[Any] | None) -> LLM[Any]:
    """Build what the settings name: one model, or several behind one another.

    Args:
        settings: Which models, and how long a guest waits; read for the model ``openai``.
        local: The local model, where it may answer when no other does.

    Raises:
        SettingsFaults: The second server's key is missing, or the client cannot work in this environment.
    """
    try:
        return _models(settings, local)
    except (ImportError, OSError, ValueError, httpx.InvalidURL) as error:
        # What the client reads by itself: ALL_PROXY, HTTPS_PROXY, SSL_CERT_FILE.
        raise SettingsFaults(
            [
                f"--model openai: the client cannot be made here ({type(error).__name__}): look at the"
                " settings of proxies and certificates in the environment"
            ]
        ) from error


def _models(settings: Settings, local: LLM[Any] | None) -> LLM[Any]:
    chosen = _chosen(settings)
    if len(chosen) == 1 and local is None:
        return OpenAIModel(**chosen[0], attempt_s=settings.openai_patience, retries=RETRIES)
    # All of them together answer within the guest's patience, so each gets its share; the local one needs
    # little.
    attempt_s = settings.openai_patience / (len(chosen) + (_LOCAL_SHARE if local else 0))
    models: list[LLM[Any]] = [OpenAIModel(**one, attempt_s=attempt_s, retries=0) for one in chosen]
    return OpenAIModels(
        [*models, local] if local is not None else models,
        attempt_s=attempt_s,
        patience_s=settings.openai_patience,
    )


def _chosen(settings: Settings) -> list[dict[str, Any]]:
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
            name = variable("openai_fallback_api_key")
            raise SettingsFaults([f"{name}: is not set: this server takes nobody without a key"])
    return chosen


# -- one attempt ---------------------------------------------------------------------------------------


def _watch(stream: Any, attempt_s: float) -> None:
    """Limit the wait for a first word, and notice a reply that does not end as replies end.

    The plugin of 1.8.9 limits the silence on the wire only, which a server that keeps the line alive
    never reaches, and takes a stream that stops for one that has ended: a call it was in the middle of
    is dropped without a word. The stream's task has not begun yet, so it finds these in place.
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
            # Nothing is left of the guest's patience for another attempt.
            raise APITimeoutError(retryable=False) from error
        if (cut := _CUT.get(ended[-1]) if ended else None) is not None:
            raise ModelFailure(cut, retryable=False)
        if not ended or stream._tool_call_id is not None:
            raise ModelFailure("its reply broke off", retryable=not spoke)

    stream._run = watched
