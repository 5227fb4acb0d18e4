"""``python -m bella_vista join`` as a person starts it: what it prints, and its exit code."""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from agents.app.join import client
from agents.app.join.command import run_call
from bella_vista.app import APP
from bella_vista.settings import Settings
from tests.agents.app.join.played_agent import CODE, played_agent
from tests.commands import main
from tests.livekit import LiveKit, new_identity, until

OTHER_SECRET = "another-servers-secret-which-this-one-does-not-know"
ROOT = Path(__file__).parents[4]


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


async def guest(livekit: LiveKit, *arguments: str, said: str = "", **settings: str) -> Done:
    """Run the command with the settings of a server, and some others."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bella_vista", "join", *arguments),
        cwd=ROOT,
        env={**kept, **livekit.environment, **settings},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await running.communicate(said.encode())
    return Done(running.returncode or 0, out.decode(), err.decode())


async def test_piped_input_is_said_and_the_answers_are_printed(
    livekit: LiveKit, room_name: str
) -> None:
    async with played_agent(livekit, room_name) as played:
        done = await guest(livekit, "--room", room_name, said="hello there\n\n  \na Margherita\n")

        assert played.heard == ["hello there", "a Margherita"]
    assert (done.code, done.err) == (0, "")
    assert "You: hello there\nGreeter: You said: hello there\n" in done.out
    assert done.out.splitlines()[-1].endswith(f"-m bella_vista join --resume {CODE}")


async def test_a_program_gets_json_lines_and_nothing_else(livekit: LiveKit, room_name: str) -> None:
    me = new_identity()
    async with played_agent(livekit, room_name):
        done = await guest(
            livekit, "--room", room_name, "--identity", me, "--events", said="hello\n"
        )

    events = [json.loads(line) for line in done.out.splitlines()]
    assert [event["type"] for event in events][::6] == ["ready", "end"]
    assert events[0]["identity"] == me


async def test_one_call_prints_its_reply(livekit: LiveKit, room_name: str) -> None:
    async with played_agent(livekit, room_name):
        done = await guest(livekit, "--room", room_name, "--rpc", "get_order_state", "{}")

    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["order"]["order_id"] == "test"


async def test_a_call_that_is_refused_says_so_and_fails(livekit: LiveKit, room_name: str) -> None:
    async with played_agent(livekit, room_name):
        done = await guest(livekit, "--room", room_name, "--rpc", "order.apply", "{}")

    assert (done.code, done.out) == (1, ""), done.err
    message, data = done.err.splitlines()
    assert message == "4022 We do not have that."
    assert json.loads(data)["reason"] == "not_on_menu"


async def test_a_method_that_is_not_there_is_looked_up_in_the_schema(
    livekit: LiveKit, room_name: str
) -> None:
    async with played_agent(livekit, room_name):
        done = await guest(livekit, "--room", room_name, "--rpc", "get_oder_state", "{}")

    assert (done.code, done.out) == (1, ""), done.err
    assert done.err.startswith("1400 ")
    assert "schema rpc` lists them" in done.err


async def test_another_guests_call_answers_as_it_answers_strangers(
    livekit: LiveKit, room_name: str
) -> None:
    async with played_agent(livekit, room_name) as played:
        played.guest = "somebody else"
        done = await guest(livekit, "--room", room_name, "--rpc", "hello", "{}")

        again = await guest(
            livekit, "--room", room_name, "--identity", "me", "--rpc", "hello", "{}"
        )

    assert (done.code, done.out) == (again.code, again.out) == (1, ""), done.err
    assert done.err.startswith("4003 ")
    assert "the same --identity NAME" in done.err
    assert "--identity" not in again.err


async def test_missing_settings_are_told_at_once(livekit: LiveKit) -> None:
    done = await guest(livekit, LIVEKIT_URL="", LIVEKIT_API_SECRET="")

    assert done.code == 2
    told = [line.partition(":")[0] for line in done.err.splitlines()]
    assert told == ["LIVEKIT_URL", "LIVEKIT_API_SECRET"]


@pytest.mark.parametrize("room", [(), ("--room", "somewhere")], ids=["a fresh room", "a room"])
async def test_keys_the_server_does_not_know_are_told_and_not_shown(
    livekit: LiveKit, room: tuple[str, ...]
) -> None:
    done = await guest(livekit, *room, LIVEKIT_API_SECRET=OTHER_SECRET)

    assert done.code == 2
    assert done.err.startswith("LIVEKIT_API_KEY, LIVEKIT_API_SECRET: rejected by the server")
    assert len(done.err.splitlines()) == 1
    assert OTHER_SECRET not in done.err
    assert "eyJ" not in done.err, "a token was shown"


@pytest.mark.parametrize("room", [(), ("--room", "somewhere")], ids=["a fresh room", "a room"])
async def test_a_server_that_is_not_there_is_told(livekit: LiveKit, room: tuple[str, ...]) -> None:
    done = await guest(livekit, *room, LIVEKIT_URL="ws://127.0.0.1:1")

    assert done.code == 1
    assert done.err.startswith("ws://127.0.0.1:1: ")
    assert "doctor" in done.err


async def test_leaving_by_signal_is_leaving(livekit: LiveKit, room_name: str) -> None:
    async with played_agent(livekit, room_name) as played:
        running = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bella_vista", "join", "--room", room_name),
            cwd=ROOT,
            env={**os.environ, **livekit.environment},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        await until(lambda: played.guest, 90)
        assert running.stdout is not None
        while b"Good evening!" not in await running.stdout.readline():
            pass
        running.terminate()
        out = (await running.stdout.read()).decode()

        assert await running.wait() == 0
    assert f"--resume {CODE}" in out


def test_no_agent_is_told_with_what_to_do(
    livekit: LiveKit,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    logs_as_before: None,
) -> None:
    monkeypatch.setattr(client, "AGENT_LIMIT_S", 0.2)
    settings = Settings.model_validate({**livekit.environment})

    code = run_call(APP, settings, "hello", "{}", room=None, identity=None, resume_code=None)

    told = capsys.readouterr()
    assert (code, told.out) == (1, "")
    assert "bella-vista" in told.err
    assert "python -m bella_vista dev" in told.err


@pytest.mark.parametrize("option", ["--microphone", "--loudspeaker"])
def test_a_sound_file_without_speech_is_refused(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["join", option, "guest.wav"])

    assert stopped.value.code == 2
    assert "need --speech" in capsys.readouterr().err


def test_a_microphone_that_is_no_sound_is_refused_before_anything_is_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LIVEKIT_URL", "ws://127.0.0.1:1")
    monkeypatch.setenv("LIVEKIT_API_KEY", "devkey")
    monkeypatch.setenv("LIVEKIT_API_SECRET", "secret")
    monkeypatch.setattr("sys.stdin", None)
    file = tmp_path / "song.mp3"
    file.write_bytes(b"ID3")
    with pytest.raises(SystemExit) as stopped:
        main(["join", "--speech", "--microphone", str(file)])

    assert stopped.value.code == 2
    assert "song.mp3: is no WAV file" in capsys.readouterr().err
