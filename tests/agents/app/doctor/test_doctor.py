"""What the doctor finds: one line for each thing a call needs, and no secret in any."""

import os
import socket
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import livekit.plugins
import pytest
from aiohttp import web

from agents.app.app import AnyApp
from agents.app.cli import main as run_command
from agents.app.doctor import database as database_module
from agents.app.doctor.command import check_transfers
from agents.app.doctor.database import check_database_access
from agents.app.doctor.findings import Finding, Severity
from agents.app.doctor.models import check_models, check_speech
from agents.app.doctor.ports import check_ports
from agents.app.doctor.server import check_server
from agents.app.doctor.speech_keys import check_speech_keys
from agents.app.setting_values import NO_REALTIME_AUDIO
from agents.app.settings import AppSettings
from agents.app.web.staff import hash_password
from agents.testing.providers import Providers
from bella_vista.app import APP
from bella_vista.settings import Settings
from tests.commands import main
from tests.livekit import LiveKit
from tests.stored_orders import open_store

OTHER_SECRET = "another-servers-secret-which-this-one-does-not-know"
KEY = "sk-a-key-that-must-not-be-shown"


@pytest.fixture
def here(
    clean_folder: Path, livekit: LiveKit, monkeypatch: pytest.MonkeyPatch, logs_as_before: None
) -> Path:
    """An empty folder, and settings with which nothing is wrong."""
    for name, value in livekit.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("BELLA_VISTA_HEALTH_PORT", "0")
    return clean_folder


def run(
    capsys: pytest.CaptureFixture[str], *options: str, app: AnyApp = APP
) -> tuple[int, list[str]]:
    with pytest.raises(SystemExit) as left:
        run_command(app, ["doctor", *options])
    written = capsys.readouterr()
    assert "secret" not in written.err
    return int(str(left.value.code)), written.out.splitlines()


def marks(lines: list[str]) -> dict[str, str]:
    found = (line.split(None, 1) for line in lines)
    return {rest.split(":")[0]: mark for mark, rest in found}


def test_a_complete_setup_has_no_faults(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = run(capsys)

    assert code == 0
    assert list(marks(lines)) == [
        "settings",
        "menu",
        "application",
        "transfers",
        "database",
        "language model",
        "speech",
        "LiveKit server",
        "clock",
        "LiveKit keys",
        "health port",
    ]
    assert set(marks(lines).values()) == {"ok"}
    assert not list(here.rglob("*.db")), "looking has made a database"


def test_everything_that_is_wrong_is_told_at_once(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here.joinpath("junk.db").write_text("no database " * 500)
    here.joinpath("menu.yaml").write_text("restaurant: 7\n")
    monkeypatch.setenv("LIVEKIT_API_SECRET", OTHER_SECRET)

    code, lines = run(capsys, "--menu", "menu.yaml", "--database", "sqlite:///junk.db")

    assert code == 1
    assert {about for about, mark in marks(lines).items() if mark == "fault"} == {
        "menu",
        "database",
        "LiveKit keys",
    }
    assert OTHER_SECRET not in "\n".join(lines)


def test_without_settings_all_else_is_looked_at(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LIVEKIT_URL")
    monkeypatch.setenv("BELLA_VISTA_MENUE", "x")

    code, lines = run(capsys, "--model", "openai")

    assert code == 1
    told = [line for line in lines if " settings: " in line]
    assert [line.split()[0] for line in told] == ["warning", "fault", "fault"]
    assert "BELLA_VISTA_MENUE" in told[0]
    assert "LIVEKIT_URL" in told[1]
    assert "OPENAI_API_KEY" in told[2]
    assert {"menu", "database", "health port"} <= marks(lines).keys()


def test_without_a_livekit_server_it_is_said_that_the_console_works(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("LIVEKIT_URL", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET"):
        monkeypatch.delenv(name)

    code, lines = run(capsys)

    assert code == 0
    (told,) = [line for line in lines if not line.startswith("ok")]
    assert told.startswith("warning  rooms: no LiveKit server is configured: `console` works")

    Path(".env").write_text("LIVEKIT_API_KEY=key\n")
    code, lines = run(capsys)

    assert code == 1
    assert [line.split(": ")[1] for line in lines if line.startswith("fault")] == [
        "LIVEKIT_URL",
        "LIVEKIT_API_SECRET",
    ]


def test_nothing_that_depends_on_an_invalid_setting_is_checked(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BELLA_VISTA_CALLS", "0")
    monkeypatch.setenv("BELLA_VISTA_GRACE", "soon")
    monkeypatch.setenv("BELLA_VISTA_HEALTH_PORT", "-1")

    code, lines = run(capsys, "--model", "nobody", "--database", "sqlite://")

    assert code == 1
    told = [line.split(": ")[1] for line in lines if " settings: " in line]
    assert sorted(told) == [
        *("--database", "--model"),
        *("BELLA_VISTA_CALLS", "BELLA_VISTA_GRACE", "BELLA_VISTA_HEALTH_PORT"),
    ]
    assert list(marks(lines)) == [
        *("settings", "menu", "application", "transfers", "speech"),
        *("LiveKit server", "clock", "LiveKit keys"),
    ]


@pytest.mark.parametrize("command", ["doctor", "start"])
def test_audio_of_a_realtime_model_stops_the_start_with_the_reason(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    monkeypatch.setenv("BELLA_VISTA_REALTIME_AUDIO", "on")
    with pytest.raises(SystemExit) as left:
        main([command])

    written = capsys.readouterr()
    assert left.value.code == (1 if command == "doctor" else 2)
    assert f"BELLA_VISTA_REALTIME_AUDIO: {NO_REALTIME_AUDIO}" in written.out + written.err


async def test_a_server_that_is_away_is_a_fault(livekit: LiveKit) -> None:
    found = await check_server(serving(livekit, LIVEKIT_URL=f"ws://127.0.0.1:{free_port()}"))

    assert [(one.mark, one.about) for one in found] == [(Severity.FAULT, "LiveKit server")]


async def test_keys_of_another_server_are_a_fault(livekit: LiveKit) -> None:
    found = await check_server(serving(livekit, LIVEKIT_API_SECRET=OTHER_SECRET))

    assert (found[-1].mark, found[-1].about) == (Severity.FAULT, "LiveKit keys")
    assert OTHER_SECRET not in str(found)


@pytest.mark.parametrize(
    ("ahead_s", "mark"),
    [
        (0, Severity.OK),
        (1, Severity.OK),
        (-1, Severity.OK),
        (20, Severity.WARNING),
        (-20, Severity.WARNING),
        (90, Severity.FAULT),
        (-90, Severity.FAULT),
    ],
)
async def test_a_clock_that_is_wrong_is_told_before_tokens_are_refused(
    livekit: LiveKit, ahead_s: int, mark: Severity
) -> None:
    async def answer(request: web.Request) -> web.Response:
        theirs = format_datetime(datetime.now(UTC) - timedelta(seconds=ahead_s), usegmt=True)
        return web.Response(text="OK", headers={"Date": theirs})

    async with serves(answer) as url:
        found = await check_server(serving(livekit, LIVEKIT_URL=url.replace("http", "ws")))

    (clock,) = [one for one in found if one.about == "clock"]
    assert clock.mark is mark
    if mark is not Severity.OK:
        assert ("ahead of" if ahead_s > 0 else "behind") in clock.found


@pytest.mark.parametrize(
    ("status", "body", "mark", "says"),
    [
        (200, {"data": [{"id": "gpt-4.1"}]}, Severity.OK, "key accepted"),
        (
            200,
            {"data": [{"id": "another"}]},
            Severity.FAULT,
            "has no model gpt-4.1: set BELLA_VISTA_OPENAI_MODEL",
        ),
        (401, {"error": KEY}, Severity.FAULT, "rejects the key"),
        (404, {}, Severity.WARNING, "does not list"),
        (200, None, Severity.FAULT, "does not answer"),
    ],
)
async def test_a_providers_model_is_asked_whether_it_knows_us(
    status: int, body: object, mark: Severity, says: str
) -> None:
    sent: list[str | None] = []

    async def answer(request: web.Request) -> web.Response:
        sent.append(request.headers.get("Authorization"))
        return (
            web.Response(text="{", status=status)
            if body is None
            else web.json_response(body, status=status)
        )

    async with serves(answer) as url:
        (found,) = await check_models(
            APP,
            Settings.model_validate(
                {"model": "openai", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": KEY}
            ),
        )

    assert sent == [f"Bearer {KEY}"]
    assert found.mark is mark
    assert says in found.found
    assert KEY not in str(found)


async def test_the_first_servers_key_is_not_shown_to_the_second_server() -> None:
    sent: list[str | None] = []

    async def answer(request: web.Request) -> web.Response:
        sent.append(request.headers.get("Authorization"))
        return web.json_response({"data": []})

    async with serves(answer) as first, serves(answer) as second:
        found = await check_models(
            APP,
            Settings.model_validate(
                {
                    "model": "openai",
                    "OPENAI_BASE_URL": first,
                    "OPENAI_API_KEY": KEY,
                    "openai_fallback_base_url": second,
                }
            ),
        )

    assert [one.mark for one in found] == [Severity.OK, Severity.OK]
    assert sent == [f"Bearer {KEY}", None]


@pytest.mark.parametrize(
    ("given", "mark", "says"),
    [
        ({}, Severity.OK, "DEEPGRAM_API_KEY, CARTESIA_API_KEY"),
        (
            {"DEEPGRAM_API_KEY": KEY, "CARTESIA_API_KEY": KEY},
            Severity.OK,
            "STT by deepgram, TTS by cartesia",
        ),
        ({"stt": "openai", "CARTESIA_API_KEY": KEY}, Severity.FAULT, "OPENAI_API_KEY"),
    ],
)
def test_whether_calls_can_be_spoken_is_told(
    given: dict[str, str], mark: Severity, says: str
) -> None:
    (found,) = check_speech(Settings.model_validate(given))

    assert found.mark is mark
    assert says in found.found
    assert KEY not in found.found


def speech_at(url: str, key: str, **given: str) -> AppSettings:
    """Return the settings of speech at a server on this machine, with the same key everywhere."""
    keys = {f"{name}_API_KEY": key for name in ("DEEPGRAM", "CARTESIA", "OPENAI")}
    servers = {"stt_base_url": url, "tts_base_url": url, "OPENAI_BASE_URL": f"{url}/v1"}
    return Settings.model_validate({**keys, **servers, **given})


FALLBACKS = {"stt_fallback": "openai", "tts_fallback": "openai"}
BY_OPENAI = {"stt": "openai", "tts": "openai"}


async def test_the_providers_of_speech_are_asked_whether_they_accept_their_keys() -> None:
    about = ["STT", "STT fallback", "TTS", "TTS fallback"]
    async with Providers(key=KEY).running() as server:
        right = await check_speech_keys(speech_at(server.url, KEY, **FALLBACKS))
        wrong = await check_speech_keys(speech_at(server.url, OTHER_SECRET, **FALLBACKS))

    assert [(one.mark, one.about) for one in right] == [(Severity.OK, one) for one in about]
    assert [(one.mark, one.about) for one in wrong] == [(Severity.FAULT, one) for one in about]
    assert f"{server.url} rejects the key: set a valid one in DEEPGRAM_API_KEY" in wrong[0].found
    assert f"{server.url} rejects the key: set a valid one in CARTESIA_API_KEY" in wrong[2].found
    assert [one.path for one in server.asked[:4]] == [
        *("/v1/projects", "/v1/models", "/voices", "/v1/models"),
    ]
    assert server.faults == []
    assert not any(secret in str([*right, *wrong]) for secret in (KEY, OTHER_SECRET))


async def test_openais_models_of_speech_are_looked_for() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "gpt-4o-mini-tts"}]})

    async with serves(answer) as url:
        given = {**BY_OPENAI, "stt_base_url": f"{url}/v1", "tts_base_url": f"{url}/v1"}
        heard, spoken = await check_speech_keys(speech_at(url, KEY, **given))

    assert heard.mark is Severity.FAULT
    assert "has no model gpt-4o-mini-transcribe: set BELLA_VISTA_STT_MODEL" in heard.found
    assert spoken.mark is Severity.OK


async def test_a_provider_of_speech_that_does_not_say_is_no_fault_and_one_that_is_away_is() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=403 if request.path == "/voices" else 404)

    async with serves(answer) as url:
        unsaid = await check_speech_keys(speech_at(url, KEY))
    away = await check_speech_keys(speech_at(f"http://127.0.0.1:{free_port()}", KEY))

    assert [one.mark for one in unsaid] == [Severity.WARNING] * 2
    assert "(404)" in unsaid[0].found
    assert "(403)" in unsaid[1].found
    assert [one.mark for one in away] == [Severity.FAULT] * 2
    assert all("does not answer" in one.found for one in away)


async def test_local_speech_and_rooms_without_speech_ask_no_provider() -> None:
    assert await check_speech_keys(Settings.model_validate({"stt": "none", "tts": "none"})) == []
    assert await check_speech_keys(Settings.model_validate({"stt": "local", "tts": "local"})) == []


def test_the_doctor_tells_of_a_key_for_speech_that_is_not_accepted(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with refusing() as url:
        for name in ("BELLA_VISTA_STT_BASE_URL", "BELLA_VISTA_TTS_BASE_URL"):
            monkeypatch.setenv(name, url)
        for name in ("DEEPGRAM_API_KEY", "CARTESIA_API_KEY"):
            monkeypatch.setenv(name, KEY)
        code, lines = run(capsys)

    assert code == 1
    assert marks(lines)["speech"] == "ok"
    assert (marks(lines)["STT"], marks(lines)["TTS"]) == ("fault", "fault")
    assert KEY not in "".join(lines)


@contextmanager
def refusing() -> Iterator[str]:
    """Serve 401 to every request, from a thread."""

    class Refuses(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(401, f"no such key: {KEY}")

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


SPEECH = {"DEEPGRAM_API_KEY": KEY, "CARTESIA_API_KEY": KEY}
DESK = "+12125550101"


@pytest.mark.parametrize(
    ("to", "given", "told"),
    [
        (None, SPEECH, "no number is set"),
        (DESK, {}, f"every telephone call, to {DESK}"),
        (DESK, SPEECH, f"cold: callers are transferred to {DESK} by SIP REFER"),
        (
            DESK,
            {**SPEECH, "transfer": "warm", "LIVEKIT_SIP_OUTBOUND_TRUNK": "ST_out"},
            f"warm: {DESK} is called by trunk ST_out first",
        ),
    ],
)
def test_whether_callers_can_be_put_through_is_told(
    to: str | None, given: dict[str, str], told: str
) -> None:
    app = replace(APP, phone=replace(APP.phone, transfer_to=lambda context: to))

    context: Any = None  # not looked at
    found = check_transfers(app, context, Settings.model_validate(given))

    assert found.mark is Severity.OK
    assert told in found.found


@pytest.mark.parametrize("missing", ["silero", "deepgram", "cartesia"])
def test_speech_is_a_fault_without_the_plugins_that_it_needs(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, f"livekit.plugins.{missing}", None)
    keys = {"DEEPGRAM_API_KEY": KEY, "CARTESIA_API_KEY": KEY}

    (found,) = check_speech(Settings.model_validate(keys))

    assert found.mark is Severity.FAULT
    assert f"livekit-plugins-{missing}: not installed" in found.found
    assert "'typed-handoffs[speech]'" in found.found


def test_speech_is_a_fault_with_a_plugin_that_cannot_be_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "deepgram.py").write_text("import no_such_library")
    monkeypatch.setattr("livekit.plugins.__path__", [str(tmp_path), *livekit.plugins.__path__])
    monkeypatch.delitem(sys.modules, "livekit.plugins.deepgram", raising=False)
    keys = {"DEEPGRAM_API_KEY": KEY, "CARTESIA_API_KEY": KEY}

    (found,) = check_speech(Settings.model_validate(keys))

    assert found.mark is Severity.FAULT
    assert "livekit-plugins-deepgram cannot be imported" in found.found
    assert "no_such_library" in found.found


async def test_the_language_model_is_a_fault_without_its_plugin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "livekit.plugins.openai", None)

    (found,) = await check_models(
        APP, Settings.model_validate({"model": "openai", "OPENAI_API_KEY": KEY})
    )

    assert found.mark is Severity.FAULT
    assert "'typed-handoffs[openai]'" in found.found


@pytest.mark.parametrize("command", ["console", "replay", "start"])
def test_a_command_names_the_extra_that_a_model_needs(
    command: str,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "livekit.plugins.openai", None)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (here / "talk.yaml").write_text("turns: [{user: hello}]")

    with pytest.raises(SystemExit) as left:
        main([command, "--model", "openai", *(["talk.yaml"] if command == "replay" else [])])

    assert left.value.code == 2
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .endswith(
            "livekit-plugins-openai: not installed: python -m pip install 'typed-handoffs[openai]'"
        )
    )


async def test_a_database_that_can_be_used_is_left_as_it_was(database: str) -> None:
    async with open_store(database, "somebody") as store:
        await store.list(1)

    found = await check_database_access(APP, Settings(database=database), None)

    assert found.mark is Severity.OK
    async with open_store(database, "doctor") as store:
        assert await store.leases.at("doctor") is None
        assert await store.leases.lost() == []


async def test_a_database_that_cannot_be_written_to_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/orders.db"
    async with open_store(url, "somebody") as store:
        await store.list(1)

    with read_only(tmp_path):
        found = await check_database_access(APP, Settings(database=url), None)

    assert found.mark is Severity.FAULT


async def test_leases_that_cannot_be_written_are_a_fault(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/orders.db"
    async with open_store(url, "somebody") as store:
        await store.list(1)
    in_their_place(tmp_path).mkdir()

    found = await check_database_access(APP, Settings(database=url), None)
    in_their_place(tmp_path).rmdir()

    assert found.mark is Severity.FAULT
    assert "orders.db.leases" in found.found
    assert (await check_database_access(APP, Settings(database=url), None)).mark is Severity.OK


def in_their_place(folder: Path) -> Path:
    return folder / "orders.db.leases"


async def test_a_folder_in_which_no_database_can_be_made_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/away/orders.db"
    assert (await check_database_access(APP, Settings(database=url), None)).mark is Severity.OK

    def refuses(dir: Path) -> None:
        raise PermissionError(f"{dir} is of a kind that keeps no files, whatever its rights say")

    monkeypatch.setattr(database_module, "TemporaryFile", refuses)
    found = await check_database_access(APP, Settings(database=url), None)

    assert found.mark is Severity.FAULT
    assert str(tmp_path) in found.found


async def test_a_disk_that_is_nearly_full_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/orders.db"
    async with open_store(url, "somebody") as store:
        await store.list(1)
    monkeypatch.setattr(database_module, "LOW_DISK_SPACE", 1 << 62)

    assert (await check_database_access(APP, Settings(database=url), None)).mark is Severity.WARNING


async def test_a_port_in_use_is_a_fault() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="something else")

    async with serves(answer) as url:
        (found,) = await check_ports(ports(url))

    assert found.mark is Severity.FAULT
    assert "BELLA_VISTA_HEALTH_PORT" in found.found


async def test_a_port_that_another_applications_worker_has_is_a_fault() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"agent_name": "clinic", "active_jobs": 0})

    async with serves(answer) as url:
        (found,) = await check_ports(ports(url))

    assert found.mark is Severity.FAULT


async def test_a_port_that_our_own_worker_has_is_as_it_should_be() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"agent_name": "bella-vista", "active_jobs": 0})

    async with serves(answer) as url:
        (found,) = await check_ports(ports(url))

    assert found.mark is Severity.OK


def test_a_finding_is_one_line() -> None:
    assert str(Finding(Severity.FAULT, "menu", "one\ntwo")) == "fault    menu: one two"


Answer = Callable[[web.Request], Awaitable[web.Response]]


def serving(livekit: LiveKit, **other: str) -> AppSettings:
    return AppSettings.model_validate({**livekit.environment, **other})


def ports(url: str) -> Settings:
    return Settings(health_host="127.0.0.1", health_port=int(url.rpartition(":")[2]))


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@asynccontextmanager
async def serves(answer: Answer) -> AsyncIterator[str]:
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make it unwritable, for the superuser too."""
    if os.geteuid() != 0:
        mode = folder.stat().st_mode
        for path in (folder, *folder.iterdir()):
            path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
        yield
        folder.chmod(mode)
        return
    # Another connection that writes and does not end keeps every other from writing.
    import sqlite3

    with sqlite3.connect(folder / "orders.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
    other.close()


def test_the_web_server_is_checked_where_it_is_configured(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, without = run(capsys)
    (here / "page").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("BELLA_VISTA_WEB_PORT", str(taken.getsockname()[1]))
        monkeypatch.setenv("BELLA_VISTA_WEB_METRICS_PORT", str(taken.getsockname()[1]))
        monkeypatch.setenv("BELLA_VISTA_WEB_PAGE", str(here / "page"))
        monkeypatch.setenv("BELLA_VISTA_STAFF_PASSWORD_HASH", "not-a-hash")
        code, wrong = run(capsys)
    (here / "page/index.html").write_text("")
    monkeypatch.setenv("BELLA_VISTA_WEB_PORT", "0")
    monkeypatch.setenv("BELLA_VISTA_WEB_METRICS_PORT", str(free_port()))
    monkeypatch.setenv("BELLA_VISTA_STAFF_PASSWORD_HASH", hash_password("a long password"))
    fine, right = run(capsys)

    web = ("web page", "web port", "web metrics port", "staff")
    assert not {*web} & marks(without).keys()
    assert [marks(wrong)[one] for one in web] == ["warning", "fault", "fault", "fault"]
    assert [marks(right)[one] for one in web] == ["ok", "ok", "ok", "ok"]
    assert "BELLA_VISTA_WEB_METRICS_PORT" in "".join(wrong)
    assert (code, fine) == (1, 0)
    assert "not-a-hash" not in "".join(wrong)


def test_a_role_of_staff_that_the_page_does_not_have_is_told(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELLA_VISTA_WEB_PORT", "0")
    monkeypatch.setenv("BELLA_VISTA_STAFF_PASSWORD_HASH", hash_password("a long password"))
    _, lines = run(capsys, app=replace(APP, web=replace(APP.web, staff_role="workshop")))

    assert marks(lines)["staff"] == "warning"
    assert 'there is no role "workshop", only guest, staff' in "".join(lines)
