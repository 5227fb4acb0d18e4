"""The language model that the settings ask for."""

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from livekit.agents.llm import LLM

from bella_vista.setting_values import OPENAI, SCRIPT
from bella_vista.settings import Settings, read_settings
from state.menu import Menu

if TYPE_CHECKING:
    from agents.testing import ScriptedLLM
    from bella_vista.conversations.form import ScriptStep


def language_model(
    name: str, menu: Menu, now: Callable[[], datetime], settings: Settings | None = None
) -> LLM[Any]:
    """Build a language model; whoever has it built closes it.

    Args:
        name: As the settings have checked it.
        menu: What the local model knows the words of.
        now: The restaurant's clock.
        settings: Where a provider's model is found, and with which key; read anew when not given.

    Raises:
        ConversationFaults: The script's file is faulty.
        SettingsFaults: What a provider's model needs is not set.
    """
    if name.startswith(SCRIPT):
        from bella_vista.conversations.reading import load_script

        return scripted(load_script(Path(name.removeprefix(SCRIPT)).expanduser()))
    if name == OPENAI:
        # The plugin and its client take half a second to import: nobody else needs them.
        from bella_vista.openai_model import openai_model

        if settings is None or settings.model != OPENAI:  # they have not been checked for this
            settings = read_settings(model=OPENAI)
        return openai_model(settings, _local(menu, now) if settings.openai_local_last else None)
    return _local(menu, now)


def patience_of(model: LLM[Any]) -> float | None:
    """Return how long a guest waits for a word of a model, in seconds; ``None`` where that is not set."""
    patience_s: float | None = getattr(model, "patience_s", None)
    return patience_s


def _local(menu: Menu, now: Callable[[], datetime]) -> LLM[Any]:
    # The local model brings the menu's words and the language's: nobody else needs them.
    from bella_vista.local.model import LocalLLM

    return LocalLLM(menu, now=now)


def scripted(script: "Iterable[ScriptStep]") -> "ScriptedLLM":
    """Build a model that plays steps as they stand in a file."""
    # The test kit's speech doubles come with it; a process that serves guests needs none of them.
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
