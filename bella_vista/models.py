"""Builds the language model that the settings name."""

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from livekit.agents.llm import LLM

from agents.app.setting_values import OPENAI, SCRIPT
from bella_vista.settings import Settings
from state.menu import Menu

if TYPE_CHECKING:
    from agents.testing import ScriptedLLM
    from bella_vista.conversations.form import ScriptStep


def language_model(
    name: str, menu: Menu, now: Callable[[], datetime], settings: Settings | None = None
) -> LLM[Any]:
    """Build a language model; the caller closes it.

    Args:
        name: The model's name, as validated by the settings.
        menu: The menu, for the local model.
        now: The restaurant's clock.
        settings: The address and key of a provider's model; read again if not given.

    Raises:
        ConversationFaults: The script's file is faulty.
        SettingsFaults: A setting that the provider's model needs is missing.
    """
    if name.startswith(SCRIPT):
        from bella_vista.conversations.reading import load_script

        return scripted(load_script(Path(name.removeprefix(SCRIPT)).expanduser()))
    if name == OPENAI:
        # The plugin and its client take half a second to import, so only this model loads them.
        from agents.app.models.openai import openai_model

        if settings is None or settings.model != OPENAI:  # not validated for this model
            settings = Settings.read(model=OPENAI)
        return openai_model(settings, _local(menu, now) if settings.openai_local_last else None)
    return _local(menu, now)


def reply_limit_of(model: LLM[Any]) -> float | None:
    """Return how long a model may take to its first word, in seconds; ``None`` if the model does not say."""
    reply_limit_s: float | None = getattr(model, "reply_limit_s", None)
    return reply_limit_s


def _local(menu: Menu, now: Callable[[], datetime]) -> LLM[Any]:
    # The local model loads the words of the menu and the language, so only this model imports it.
    from bella_vista.local.model import LocalLLM

    return LocalLLM(menu, now=now)


def scripted(script: "Iterable[ScriptStep]") -> "ScriptedLLM":
    """Build a model that replays the steps of a script."""
    # The test kit loads speech doubles; a process that serves guests needs none of them.
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
