"""Runs the checks one after another and prints each finding on a line."""

import asyncio
from collections.abc import AsyncIterator, Collection

from agents.app.doctor.findings import Finding, Mark, fault, ok, warning
from agents.app.doctor.models import check_models, check_speech
from agents.app.doctor.ports import check_ports
from agents.app.doctor.server import check_server
from agents.app.settings import SettingsFaults, has_livekit_settings
from agents.app.terminal.logs import log_to_stderr
from agents.app.terminal.streams import say
from bella_vista.doctor.database import check_database_access
from bella_vista.menus import menu_file
from bella_vista.settings import Settings
from state.menu import Menu, MenuFaults, load_menu

FAILED = 1


def run_doctor(**options: str | None) -> int:
    """Run all checks; returns the exit code.

    Args:
        options: The command line's options.
    """
    findings, settings, wrong = check_settings(**options)
    secrets = settings.secrets if settings is not None else ()
    log_to_stderr(secrets)
    marks = {finding.mark for finding in findings}
    for finding in findings:
        say(str(finding))

    async def look() -> None:
        async for finding in check_all(settings, wrong):
            marks.add(finding.mark)
            text = str(finding)
            for secret in secrets:  # a server may repeat what it was sent
                text = text.replace(secret, "[secret]")
            say(text)

    asyncio.run(look())
    return FAILED if Mark.FAULT in marks else 0


def check_settings(
    **options: str | None,
) -> tuple[list[Finding], Settings | None, frozenset[str]]:
    """Check the settings; returns findings, usable settings, and the names of invalid ones."""
    findings = [
        warning("settings", f"unknown setting {name}; see .env.example")
        for name in Settings.unknown()
    ]
    if not has_livekit_settings():
        findings.append(
            warning(
                "rooms",
                "no LiveKit server is configured: `console` works without one; `make dev` starts one here, or set"
                " LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET",
            )
        )
        wanted = Settings.read
    else:
        wanted = Settings.read_for_rooms
    try:
        settings = wanted(**options)
    except SettingsFaults as error:
        findings += [fault("settings", told) for told in error.faults]
    else:
        return [*findings, ok("settings", "all valid")], settings, frozenset()
    rest, wrong = Settings.usable(**options) or (None, frozenset())
    return findings, rest, wrong


async def check_all(
    settings: Settings | None, wrong: Collection[str] = ()
) -> AsyncIterator[Finding]:
    """Check the menu, the database, the models, the server and the ports, one after another.

    Args:
        settings: The usable settings; without them nothing is checked.
        wrong: The names of invalid settings; what depends on them is not checked.
    """
    if settings is None:
        return

    def is_valid(*starts: str) -> bool:
        return not any(name.startswith(starts) for name in wrong)

    menu = None
    if is_valid("menu"):
        menu, found = check_menu(settings)
        yield found
    if is_valid("database"):
        yield await check_database_access(settings, menu)
    if is_valid("model", "openai_base", "openai_fallback"):
        for found in await check_models(settings):
            yield found
    if is_valid("stt", "tts"):
        for found in check_speech(settings):
            yield found
    for found in await check_server(settings):
        yield found
    if is_valid("health", "metrics"):
        for found in await check_ports(settings):
            yield found


def check_menu(settings: Settings) -> tuple[Menu | None, Finding]:
    """Check the menu."""
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
