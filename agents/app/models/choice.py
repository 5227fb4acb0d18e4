"""Builds the language model that the settings name."""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from livekit.agents.llm import LLM

from agents.app.app import App
from agents.app.declaration import AppFaults, named_faults, of_kind
from agents.app.importing import is_installed, missing_extra
from agents.app.models.speech_settings import (
    missing_for_speech,
    speech_plugins,
    stt_provider,
    tts_provider,
)
from agents.app.parts import C, S
from agents.app.setting_values import LOCAL, OPENAI_MODELS, OPENAI_REALTIME, SCRIPT
from agents.app.settings import AppSettings, SettingsFaults

if TYPE_CHECKING:
    from agents.app.conversation_files.form import ScriptStep
    from agents.testing import ScriptedLLM

logger = logging.getLogger(__name__)


def language_model(
    app: App[S, C],
    context: C,
    settings: AppSettings,
    *,
    name: str | None = None,
) -> LLM[Any]:
    """Build a language model; the caller closes it.

    Args:
        app: The application.
        context: The context that its local model is built from.
        settings: The address and key of a provider's model.
        name: The model's name, as validated by the settings; the settings' own without it.

    Raises:
        ConversationFaults: The script's file is faulty.
        SettingsFaults: The application has no such model, or a setting that it needs is missing.
    """
    name = name or settings.model
    if name.startswith(SCRIPT):
        from agents.app.conversation_files.reading import load_script

        return scripted(load_script(Path(name.removeprefix(SCRIPT)).expanduser()))
    if name in OPENAI_MODELS:
        if message := missing_extra("openai", ("openai",)):
            raise SettingsFaults([f"--model {name}: {message}"])
        # The plugin and its client take half a second to import, so only this model loads them.
        from agents.app.models.openai import openai_model

        if settings.model != name:  # not validated for this model
            settings = type(settings).read(model=name)
        last = _local(app, context, settings) if settings.openai_local_last else None
        return openai_model(settings, last, hears=name == OPENAI_REALTIME)
    return _local(app, context, settings)


def models_of_agents(
    app: App[S, C], context: C, settings: AppSettings, *, name: str | None = None
) -> dict[str, LLM[Any]]:
    """Build the language models of single agents, by the agent's name; the caller closes them.

    An agent whose function raises an exception uses the call's model; the exception is logged.

    Args:
        app: The application.
        context: The context that they are built from.
        settings: The settings.
        name: The call's model, as ``language_model`` takes it: a script answers for all agents.

    Raises:
        SettingsFaults: A setting that a model needs is missing.
    """
    if (name or settings.model).startswith(SCRIPT):
        return {}
    built: dict[str, LLM[Any]] = {}
    for agent, build in app.models.items():
        try:
            with named_faults(f"models[{agent!r}]", settings.secrets):
                model = build(context, settings)
            if model is not None:
                built[agent] = of_kind(f"models[{agent!r}]", model, LLM)
        except AppFaults as fault:  # one agent's model must not end the call for all agents
            logger.error(
                "model of agent %s not made, using the call's",
                agent,
                exc_info=fault.__cause__ or fault,
            )
    return built


def reply_limit_of(model: LLM[Any], *others: LLM[Any]) -> float | None:
    """Return the longest reply limit of models, in seconds; ``None`` if the first one has none.

    Args:
        model: The call's model.
        others: The models of single agents.
    """
    limits = [getattr(one, "reply_limit_s", None) for one in (model, *others)]
    return None if limits[0] is None else max(limit for limit in limits if limit is not None)


def model_modules(settings: AppSettings) -> tuple[str, ...]:
    """List the installed modules of a call's models, which take seconds to import.

    >>> from agents.app.settings import settings_of
    >>> model_modules(settings_of("front-desk")(model="local"))
    ()
    """
    modules = []
    if settings.model in OPENAI_MODELS:
        # The last is imported by the first client that is made.
        modules += ["livekit.plugins.openai", "agents.app.models.openai", "httpcore2"]
    if settings.model == OPENAI_REALTIME:
        modules.append("agents.app.models.realtime")
    if not missing_for_speech(settings):
        modules += [f"livekit.plugins.{name}" for name in speech_plugins(settings)]
        modules += ["agents.handoff.sessions", "agents.app.models.speech_failures"]
        if settings.tts_fallback:
            modules.append("agents.app.models.fallback_tts")
    if LOCAL in (stt_provider(settings), settings.stt_fallback):
        modules.append("agents.app.local_speech.local_stt")
    if LOCAL in (tts_provider(settings), settings.tts_fallback):
        modules.append("agents.app.local_speech.local_tts")
    return tuple(filter(is_installed, modules))


def _local(app: App[S, C], context: C, settings: AppSettings) -> LLM[Any]:
    if app.model is None:
        raise SettingsFaults(
            [f"--model local: {app.name} has no local model: use openai, or script:FILE"]
        )
    with named_faults("model", settings.secrets):
        return of_kind("model", app.model(context, settings), LLM)


def scripted(script: "Iterable[ScriptStep]") -> "ScriptedLLM":
    """Build a model that replays the steps of a script."""
    # Imported late: the test kit loads doubles that a process that serves users does not need.
    from agents.testing import ScriptedLLM, Step

    return ScriptedLLM(
        Step(
            say=step.say,
            calls=tuple((call.name, call.arguments) for call in step.calls),
            delay=step.delay,
            error=step.error,
            cut=step.cut,
        )
        for step in script
    )
