"""Runs the checks one after another and prints each finding on a line."""

import asyncio
from collections.abc import AsyncIterator, Collection

from agents.app.app import AnyApp, App, Environment
from agents.app.declaration import named_faults
from agents.app.doctor.database import check_database_access
from agents.app.doctor.findings import Finding, Severity, fault, ok, warning
from agents.app.doctor.models import check_models, check_speech
from agents.app.doctor.ports import check_ports, check_web
from agents.app.doctor.server import check_server
from agents.app.doctor.speech_keys import check_speech_keys
from agents.app.faults import InputError
from agents.app.models.choice import language_model
from agents.app.models.speech_settings import missing_for_speech
from agents.app.parts import C, S
from agents.app.setting_values import LOCAL
from agents.app.settings import AppSettings, SettingsFaults, has_livekit_settings
from agents.app.terminal.logs import log_to_stderr
from agents.app.terminal.stdio import say

FAILED = 1


def run_doctor(app: AnyApp, **options: str | None) -> int:
    """Run all checks; returns the exit code."""
    findings, settings, wrong = check_settings(app, **options)
    secrets = settings.secrets if settings is not None else ()
    log_to_stderr(secrets)
    marks = {finding.mark for finding in findings}
    for finding in findings:
        say(str(finding))

    async def look() -> None:
        async for finding in check_all(app, settings, wrong):
            marks.add(finding.mark)
            text = str(finding)
            for secret in secrets:  # a server's reply may contain the request
                text = text.replace(secret, "[secret]")
            say(text)

    asyncio.run(look())
    return FAILED if Severity.FAULT in marks else 0


def check_settings(
    app: AnyApp,
    **options: str | None,
) -> tuple[list[Finding], AppSettings | None, frozenset[str]]:
    """Check the settings; returns findings, usable settings, and the names of invalid ones."""
    findings = [warning("settings", message) for message in app.settings.unknown()]
    if not has_livekit_settings():
        findings.append(
            warning(
                "rooms",
                "no LiveKit server is configured: `console` works without one, and `dev` runs one here;"
                " else set LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET",
            )
        )
        wanted = app.settings.read
    else:
        wanted = app.settings.read_for_rooms
    try:
        settings = wanted(**options)
    except SettingsFaults as error:
        findings += [fault("settings", message) for message in error.faults]
    else:
        return [*findings, ok("settings", "all valid")], settings, frozenset()
    rest, wrong = app.settings.usable(**options) or (None, frozenset())
    return findings, rest, wrong


async def check_all(
    app: AnyApp, settings: AppSettings | None, wrong: Collection[str] = ()
) -> AsyncIterator[Finding]:
    """Check the context, the database, the models, the server and the ports, one after another.

    Args:
        app: The application.
        settings: The usable settings; without them nothing is checked.
        wrong: The names of invalid settings; checks that need them are left out.
    """
    if settings is None:
        return

    def is_valid(*starts: str) -> bool:
        return not any(name.startswith(starts) for name in wrong)

    owner = None
    if not app.command_line.options or is_valid(*app.command_line.options):
        owner, findings = await check_application(app, settings)
        for found in findings:
            yield found
    if is_valid("database"):
        yield await check_database_access(app, settings, owner)
    if is_valid("model", "openai_base", "openai_fallback"):
        for found in await check_models(app, settings):
            yield found
    if is_valid("stt", "tts"):
        for found in (*check_speech(settings), *await check_speech_keys(settings)):
            yield found
    for found in await check_server(settings):
        yield found
    if is_valid("health", "metrics"):
        for found in await check_ports(settings):
            yield found
    if is_valid("web", "staff"):
        for found in await check_web(app, settings):
            yield found


async def check_application(
    app: App[S, C], settings: AppSettings
) -> tuple[str | None, list[Finding]]:
    """Check that everything that a call needs can be built; also returns the owner of the states."""
    name, owner = app.command_line.context_name, None
    findings: list[Finding] = []
    context: list[C] = []
    try:
        context.append(app.make_context(Environment.of(settings)))
        owner = app.owner_of(context[0])
        with named_faults("command_line.describe_context"):
            findings.append(ok(name, app.command_line.describe_context(context[0])))
    except InputError as error:
        first, *others = error.faults
        more = f"; {len(others) + 1} in all" if others else ""
        findings.append(fault(name, f"{first.removeprefix(f'{name}: ')}{more}"))
    try:
        app.make_parts()
        for made in context:
            app.rehearse(made)
            if settings.model == LOCAL and app.model is not None:
                await language_model(app, made, settings).aclose()
    except InputError as error:
        return owner, [*findings, *(fault("application", message) for message in error.faults)]
    what = f"its agents and {app.a_noun}" if context else "its agents"
    findings.append(ok("application", f"{what} can be made"))
    return owner, [*findings, *(check_transfers(app, made, settings) for made in context)]


def check_transfers(app: App[S, C], context: C, settings: AppSettings) -> Finding:
    """Check whether phone callers can be transferred to a person, and how."""
    about = "transfers"
    try:
        with named_faults("phone.transfer_to", settings.secrets):
            to = app.phone.transfer_to(context)
    except InputError as error:
        return fault(about, "; ".join(error.faults))
    if to is None:
        return ok(about, "off: no number is set, so no agent offers to transfer a caller")
    if missing := missing_for_speech(settings):
        return ok(about, f"every telephone call, to {to}: it has no speech ({', '.join(missing)})")
    if settings.transfer == "warm":
        return ok(about, f"warm: {to} is called by trunk {settings.sip_outbound_trunk} first")
    return ok(about, f"cold: callers are transferred to {to} by SIP REFER")
