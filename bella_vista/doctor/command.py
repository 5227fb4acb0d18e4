"""Look at one thing after the other, and tell of each in one line."""

import asyncio
from collections.abc import AsyncIterator, Collection

from bella_vista.doctor.database import look_at_database
from bella_vista.doctor.findings import Finding, Mark, fault, ok, warning
from bella_vista.doctor.models import look_at_models, look_at_speech
from bella_vista.doctor.ports import look_at_ports
from bella_vista.doctor.server import look_at_server
from bella_vista.menus import menu_file
from bella_vista.settings import (
    Settings,
    SettingsFaults,
    names_a_server,
    read_settings,
    serving_settings,
    unknown_settings,
    usable_settings,
)
from bella_vista.terminal.logs import log_to_stderr
from bella_vista.terminal.streams import say
from state.menu import Menu, MenuFaults, load_menu

FAILED = 1


def run_doctor(**options: str | None) -> int:
    """Look at everything, one line each; returns the exit code.

    Args:
        options: As the other commands take them.
    """
    findings, settings, wrong = look_at_settings(**options)
    secrets = settings.secrets if settings is not None else ()
    log_to_stderr(secrets)
    marks = {finding.mark for finding in findings}
    for finding in findings:
        say(str(finding))

    async def look() -> None:
        async for finding in look_at_everything(settings, wrong):
            marks.add(finding.mark)
            text = str(finding)
            for secret in secrets:  # a server may repeat what it was sent
                text = text.replace(secret, "[secret]")
            say(text)

    asyncio.run(look())
    return FAILED if Mark.FAULT in marks else 0


def look_at_settings(
    **options: str | None,
) -> tuple[list[Finding], Settings | None, frozenset[str]]:
    """Read the settings; returns what is wrong with them, those that can be used, and the names of the others."""
    findings = [
        warning("settings", f"there is no setting {name}; see .env.example")
        for name in unknown_settings()
    ]
    if not names_a_server():
        findings.append(
            warning(
                "rooms",
                "no LiveKit server is set: `console` works without one; `make dev` starts one here, or set"
                " LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET",
            )
        )
        wanted = read_settings
    else:
        wanted = serving_settings
    try:
        settings = wanted(**options)
    except SettingsFaults as error:
        findings += [fault("settings", told) for told in error.faults]
    else:
        return [*findings, ok("settings", "nothing is wrong with them")], settings, frozenset()
    rest, wrong = usable_settings(**options) or (None, frozenset())
    return findings, rest, wrong


async def look_at_everything(
    settings: Settings | None, wrong: Collection[str] = ()
) -> AsyncIterator[Finding]:
    """Look at the menu, the database, the models, the server and the ports, one after the other.

    Args:
        settings: What is set; nothing is looked at where that cannot be read.
        wrong: The settings that are wrong: where it is not known what is meant, nothing else is looked at instead.
    """
    if settings is None:
        return

    def meant(*starts: str) -> bool:
        return not any(name.startswith(starts) for name in wrong)

    menu = None
    if meant("menu"):
        menu, found = look_at_menu(settings)
        yield found
    if meant("database"):
        yield await look_at_database(settings, menu)
    if meant("model", "openai_base", "openai_fallback"):
        for found in await look_at_models(settings):
            yield found
    if meant("stt", "tts"):
        for found in look_at_speech(settings):
            yield found
    for found in await look_at_server(settings):
        yield found
    if meant("health", "metrics"):
        for found in await look_at_ports(settings):
            yield found


def look_at_menu(settings: Settings) -> tuple[Menu | None, Finding]:
    """Read the menu."""
    file = menu_file(settings.menu)
    try:
        menu = load_menu(file)
    except MenuFaults as error:
        wrong = len(error.faults)
        return None, fault(
            "menu",
            f"{error.faults[0]}; {wrong} in all: `python -m bella_vista menu check {file}`"
            if wrong > 1
            else str(error.faults[0]),
        )
    dishes = sum(len(section.dishes) for section in menu.sections)
    return menu, ok("menu", f"{menu.restaurant.name}, {dishes} dishes")
