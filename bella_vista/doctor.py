"""``python -m bella_vista doctor``: everything a call needs, looked at one by one, and what to do about it.

It changes nothing, and shows no secret.
"""

import asyncio
import os
import shutil
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from google.protobuf.message import DecodeError
from livekit import api
from pydantic import SecretStr
from sqlalchemy.engine import make_url

from bella_vista.menus import menu_file
from bella_vista.orders import default_database, open_store
from bella_vista.settings import (
    LOCAL,
    OPENAI,
    SCRIPT,
    Settings,
    SettingsFaults,
    needs_key,
    read_settings,
    serving_settings,
    unknown_settings,
)
from bella_vista.speech_models import hears, missing_for_speech, speaks, speech_faults
from bella_vista.terminal.logs import log_to_stderr
from bella_vista.terminal.streams import say
from state.menu import Menu, MenuFaults, load_menu
from state.shared import Held, StateError

FAILED = 1

ANSWER_S = 5.0
"""How long a server may take to answer, in seconds."""

SKEW_S = 5.0
"""By how many seconds the clocks may differ without a word."""

REFUSED_SKEW_S = 55.0
"""From how many seconds on a server takes tokens for not yet valid, or for over (livekit-server 1.13.5: 60)."""

LITTLE_ROOM = 200 * 1024 * 1024
"""With how many bytes left on its disk a database is warned of."""

_OPENAI_URL = "https://api.openai.com/v1"
_PLACE = "doctor"
_PLACE_S = 5.0


class Mark(StrEnum):
    """How something stands."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found in one respect.

    Args:
        mark: How it stands.
        about: In which respect.
        found: What was found, and what to do about it.
    """

    mark: Mark
    about: str
    found: str

    def __str__(self) -> str:
        return f"{self.mark.value:<8} {self.about}: {' '.join(self.found.split())}"


def ok(about: str, found: str) -> Finding:
    """Something is as it should be."""
    return Finding(Mark.OK, about, found)


def warning(about: str, found: str) -> Finding:
    """Something works, and may not for long."""
    return Finding(Mark.WARNING, about, found)


def fault(about: str, found: str) -> Finding:
    """Something would fail in a call."""
    return Finding(Mark.FAULT, about, found)


def run_doctor(**options: str | None) -> int:
    """Look at everything, one line each; returns the exit code.

    Args:
        options: As the other commands take them.
    """
    findings, settings = look_at_settings(**options)
    secrets = settings.secrets if settings is not None else ()
    log_to_stderr(secrets)
    marks = {finding.mark for finding in findings}
    for finding in findings:
        say(str(finding))

    async def look() -> None:
        async for finding in look_at_everything(settings):
            marks.add(finding.mark)
            text = str(finding)
            for secret in secrets:  # a server may repeat what it was sent
                text = text.replace(secret, "[secret]")
            say(text)

    asyncio.run(look())
    return FAILED if Mark.FAULT in marks else 0


def look_at_settings(**options: str | None) -> tuple[list[Finding], Settings | None]:
    """Read the settings; returns what is wrong with them, and those that can be used."""
    findings = [
        warning("settings", f"there is no setting {name}; see .env.example")
        for name in unknown_settings()
    ]
    try:
        settings = serving_settings(**options)
    except SettingsFaults as error:
        findings += [fault("settings", told) for told in error.faults]
    else:
        return [*findings, ok("settings", "nothing is wrong with them")], settings
    # What can be looked at all the same is: first without the server, then without the model.
    with suppress(SettingsFaults):
        return findings, read_settings(**options)
    with suppress(SettingsFaults):
        rest = read_settings(**{**options, "model": LOCAL})
        return findings, rest.model_copy(update={"model": OPENAI})
    return findings, None


async def look_at_everything(settings: Settings | None) -> AsyncIterator[Finding]:
    """Look at the menu, the database, the models, the server and the ports, one after the other.

    Args:
        settings: What is set; nothing is looked at where that cannot be read.
    """
    if settings is None:
        return
    menu, found = look_at_menu(settings)
    yield found
    yield await look_at_database(settings, menu)
    for found in await look_at_models(settings):
        yield found
    for found in look_at_speech(settings):
        yield found
    for found in await look_at_server(settings):
        yield found
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


# -- the database ---------------------------------------------------------------------------------------


async def look_at_database(settings: Settings, menu: Menu | None) -> Finding:
    """Read from the database, and write to it: only that shows that a disk is full or an account too small."""
    url = settings.database or default_database()
    file = _database_file(url)
    if file is not None and not file.exists():
        return _to_be_made(file)
    try:
        async with open_store(url, menu.restaurant.id if menu else _PLACE, create=False) as store:
            await store.list(1)
            holder = token_hex(16)
            with suppress(Held):  # another doctor is at it just now: it can be written to
                await store.take_place(_PLACE, holder, seconds=_PLACE_S)
                await store.leave_place(_PLACE, holder, done=True)
    except StateError as error:
        return fault("database", f"{error.message} See --database, BELLA_VISTA_DATABASE.")
    if file is None:
        return ok("database", "it answers, can be written to, and its tables are as they should be")
    free = shutil.disk_usage(file.parent).free
    if free < LITTLE_ROOM:
        return warning(
            "database", f"{file}: only {free // 1_048_576} MiB are left on its disk: make room"
        )
    return ok("database", f"{file} can be written to, and its tables are as they should be")


def _database_file(url: str) -> Path | None:
    with suppress(Exception):  # SQLAlchemy raises several kinds; opening it tells what is wrong
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite" and parsed.database:
            return Path(parsed.database)
    return None


def _to_be_made(file: Path) -> Finding:
    there = next((folder for folder in file.absolute().parents if folder.exists()), Path("/"))
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return fault(
            "database",
            f"{file} is not there, and {there} cannot be written to: name another file with"
            " --database, or allow it",
        )
    return ok("database", f"{file} is not there yet; the first call makes it")


# -- the models -----------------------------------------------------------------------------------------


async def look_at_models(settings: Settings) -> list[Finding]:
    """Ask for each language model whether its server would answer us."""
    if settings.model == LOCAL:
        return [ok("language model", "the local one needs nothing")]
    if settings.model.startswith(SCRIPT):
        return [_look_at_script(Path(settings.model.removeprefix(SCRIPT)))]
    if settings.model != OPENAI:
        return []
    first = await _look_at_model(
        "language model",
        settings.openai_base_url,
        settings.openai_model,
        settings.openai_api_key,
    )
    if settings.openai_fallback_model is None and settings.openai_fallback_base_url is None:
        return [first]
    elsewhere = settings.openai_fallback_base_url
    second = await _look_at_model(
        "second language model",
        elsewhere or settings.openai_base_url,
        settings.openai_fallback_model or settings.openai_model,
        settings.openai_fallback_api_key
        or (settings.openai_api_key if elsewhere is None else None),
    )
    return [first, second]


def _look_at_script(file: Path) -> Finding:
    if not file.expanduser().is_file():
        return fault("language model", f"there is no script {file}")
    return warning("language model", f"plays {file}: nobody understands what guests say")


async def _look_at_model(
    about: str, base_url: str | None, model: str, key: SecretStr | None
) -> Finding:
    if key is None and needs_key(base_url):
        return fault(about, "no key is set: put it into OPENAI_API_KEY")
    url = (base_url or _OPENAI_URL).rstrip("/")
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key is not None else {}
    try:
        async with (
            aiohttp.ClientSession(timeout=_limit(), trust_env=True) as session,
            session.get(f"{url}/models", headers=headers) as answer,
        ):
            status = answer.status
            known = _names(await answer.json(content_type=None)) if status == 200 else set()
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
        return fault(about, f"{url} does not answer: is it the right address, and is it running?")
    if status in (401, 403):
        return fault(about, f"{url} does not accept the key: set one that is valid")
    if status != 200:  # not every compatible server can list its models
        return warning(about, f"{url} answers, but does not list its models ({status})")
    if known and model not in known:
        return fault(about, f"{url} has no model {model}: set BELLA_VISTA_OPENAI_MODEL")
    return ok(about, f"{model} at {url}{', key accepted' if key is not None else ''}")


def _names(listed: Any) -> set[str]:
    models = listed.get("data", ()) if isinstance(listed, dict) else ()
    return {str(one.get("id")) for one in models if isinstance(one, dict)}


def look_at_speech(settings: Settings) -> list[Finding]:
    """Look whether calls can be spoken, and with whom; what a provider says to a key only a call shows."""
    if missing := missing_for_speech(settings):
        return [ok("speech", f"rooms are text only; not set for more: {', '.join(missing)}")]
    if wrong := speech_faults(settings):
        return [fault("speech", told) for told in wrong]
    return [ok("speech", f"{hears(settings)} hears, {speaks(settings)} speaks")]


# -- the LiveKit server ---------------------------------------------------------------------------------


async def look_at_server(settings: Settings) -> list[Finding]:
    """Ask the LiveKit server whether it is there, what time it has, and whether it accepts the keys."""
    url = settings.livekit_url
    if url is None or urlsplit(url).scheme not in ("ws", "wss"):
        return []  # the settings have told it
    before = datetime.now(UTC)
    try:
        async with (
            aiohttp.ClientSession(timeout=_limit(), trust_env=True) as session,
            session.get(url.replace("ws", "http", 1)) as answer,
        ):
            status, date = answer.status, answer.headers.get("Date")
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
        return [fault("LiveKit server", f"{url} does not answer: start it, or correct LIVEKIT_URL")]
    after = datetime.now(UTC)
    if status >= 500:
        return [fault("LiveKit server", f"{url} answers, but is not well ({status}): look there")]
    return [
        ok("LiveKit server", f"{url} answers"),
        *_look_at_clocks(date, before, after),
        await _look_at_keys(settings),
    ]


def _look_at_clocks(date: str | None, before: datetime, after: datetime) -> Iterable[Finding]:
    try:
        theirs = parsedate_to_datetime(date or "")
    except ValueError:
        return [warning("clock", "the server does not say what time it has")]
    # A header has whole seconds, and was written at some moment between our two.
    ahead = max((before - theirs).total_seconds() - 1, 0) or min(
        (after - theirs).total_seconds(), 0
    )
    if abs(ahead) <= SKEW_S:
        return [ok("clock", "it agrees with the server's")]
    said = f"it is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} the server's"
    if abs(ahead) >= REFUSED_SKEW_S:
        return [fault("clock", f"{said}: tokens are refused; set it by a time server (NTP)")]
    return [warning("clock", f"{said}: let a time server (NTP) set it")]


async def _look_at_keys(settings: Settings) -> Finding:
    key, secret = settings.livekit_api_key, settings.livekit_api_secret
    if key is None or secret is None:
        return fault("LiveKit keys", "not set: put them into LIVEKIT_API_KEY, LIVEKIT_API_SECRET")
    try:
        async with api.LiveKitAPI(
            settings.livekit_url,
            key.strip(),
            secret.get_secret_value().strip(),
            timeout=_limit(),
            failover=False,
        ) as server:
            await server.room.list_rooms(api.ListRoomsRequest(names=[token_hex(16)]))
    except api.TwirpError as error:
        if error.status in (401, 403):
            return fault(
                "LiveKit keys",
                "the server does not accept them: LIVEKIT_API_KEY and LIVEKIT_API_SECRET have to be"
                " a pair it was started with",
            )
        return fault("LiveKit keys", f"the server cannot say now ({error.code}): look there")
    except (aiohttp.ClientError, TimeoutError, OSError):
        return fault("LiveKit keys", "the server did not answer when it was asked: try again")
    except DecodeError:
        return fault("LiveKit keys", "what answers there is no LiveKit server: correct LIVEKIT_URL")
    return ok("LiveKit keys", "accepted")


# -- the ports ------------------------------------------------------------------------------------------


async def look_at_ports(settings: Settings) -> list[Finding]:
    """Look whether a worker that starts now can have its ports; one that runs already has them."""
    findings = [
        await _look_at_port(
            settings, "health port", settings.health_port, "BELLA_VISTA_HEALTH_PORT"
        )
    ]
    if settings.metrics_port is not None:
        findings.append(
            await _look_at_port(
                settings, "metrics port", settings.metrics_port, "BELLA_VISTA_METRICS_PORT"
            )
        )
    return findings


async def _look_at_port(settings: Settings, about: str, port: int, variable: str) -> Finding:
    host = settings.health_host
    if port == 0:
        return ok(about, "any free one")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with closing(socket.socket(family, socket.SOCK_STREAM)) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except OSError as error:
        if await _is_a_worker(settings):
            return ok(about, f"{port}: a worker runs here")
        return fault(about, f"{host}:{port} cannot be had ({error.strerror}): set {variable}")
    return ok(about, f"{port} is free")


async def _is_a_worker(settings: Settings) -> bool:
    """Whether it is one of ours that answers on the health port."""
    host = "127.0.0.1" if settings.health_host == "0.0.0.0" else settings.health_host
    with suppress(aiohttp.ClientError, TimeoutError, OSError, ValueError):
        async with (
            aiohttp.ClientSession(timeout=_limit()) as session,
            session.get(f"http://{host}:{settings.health_port}/worker") as answer,
        ):
            told = await answer.json(content_type=None)
            return isinstance(told, dict) and told.get("agent_name") == settings.agent_name
    return False


def _limit() -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=ANSWER_S)
