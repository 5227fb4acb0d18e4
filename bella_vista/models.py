"""The language model that the settings ask for."""

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from livekit.agents.llm import LLM

from agents.testing import ScriptedLLM, Step
from bella_vista.conversations.form import ScriptStep
from bella_vista.conversations.reading import load_script
from bella_vista.settings import SCRIPT
from state.menu import Menu


def language_model(name: str, menu: Menu, now: Callable[[], datetime]) -> LLM[Any]:
    """Build a language model.

    Args:
        name: As the settings have checked it.
        menu: What the local model knows the words of.
        now: The restaurant's clock.

    Raises:
        ConversationFaults: The script's file is faulty.
    """
    if name.startswith(SCRIPT):
        return scripted(load_script(Path(name.removeprefix(SCRIPT)).expanduser()))
    # The local model brings the menu's words and the language's: nobody else needs them.
    from bella_vista.local.model import LocalLLM

    return LocalLLM(menu, now=now)


def scripted(script: Iterable[ScriptStep]) -> ScriptedLLM:
    """Build a model that plays steps as they stand in a file."""
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
