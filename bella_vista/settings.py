"""The restaurant's settings."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator
from pydantic_settings import SettingsConfigDict

from agents.app.settings import AgentName, AppSettings

NOUN = "order"
"""What the application calls a state."""

ORDER_SCHEMA = 2
"""The version of stored orders' form; a program does not read a higher one than its own."""


class Settings(AppSettings):
    """The restaurant's settings: those of every application, and the menu.

    Args:
        menu: The menu file; Bella Vista's own by default.
    """

    model_config = SettingsConfigDict(env_prefix="BELLA_VISTA_")

    menu: Annotated[Path | None, AfterValidator(lambda path: path and path.expanduser())] = None
    agent_name: AgentName = "bella-vista"
