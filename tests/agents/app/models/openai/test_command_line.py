"""``--model openai`` as a person uses it, from the settings to the last line."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.testing.providers import Providers, refuses
from tests.agents.app.models.openai.talking import GREETING, KEY, USAGE, WHOLE_ORDER, script
from tests.commands import main

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[5]


async def command(
    folder: Path, *words: str, typed: str = "", **environment: str
) -> tuple[int, str, str]:
    """Run a command in an empty home; returns its exit code, what it wrote, and its log."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    # A machine that is busy with other tests is no provider that is slow.
    kept["BELLA_VISTA_OPENAI_PATIENCE"] = "60"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bella_vista", *words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env={**kept, "HOME": str(folder), "PYTHONPATH": str(ROOT), **environment},
    )
    async with asyncio.timeout(50):
        out, log = await process.communicate(typed.encode())
    assert process.returncode is not None
    return process.returncode, out.decode(), log.decode()


def events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


async def test_a_whole_order_from_the_command_line(tmp_path: Path) -> None:
    said = "\n".join(words for words, _ in WHOLE_ORDER)
    async with Providers(script()).running() as server:
        (tmp_path / ".env").write_text(
            f"OPENAI_API_KEY={KEY}\nOPENAI_BASE_URL={server.openai_url}\n"
        )

        code, out, log = await command(
            tmp_path, "console", "--model", "openai", "--events", typed=said
        )

    told = events(out)
    total = len(script())
    assert (code, log) == (0, "")
    assert told[-1]["order"]["stage"] == "placed"
    assert told[-1]["usage"] == {
        "model_calls": total,
        "prompt_tokens": total * USAGE[0],
        "completion_tokens": total * USAGE[1],
        "cached_tokens": total * USAGE[2],
    }
    kinds = [event["type"] for event in told]
    assert kinds.count("usage") == kinds.count("your_turn") == len(WHOLE_ORDER) + 1
    for before, after in zip(kinds, kinds[1:], strict=False):
        assert (before == "usage") == (after == "your_turn")
    assert told[kinds.index("usage")] == {
        "type": "usage",
        "turn": 0,
        "agent": "greeter",
        "model_calls": 1,
        "prompt_tokens": USAGE[0],
        "completion_tokens": USAGE[1],
        "cached_tokens": USAGE[2],
    }
    assert {one.key for one in server.asked} == {KEY}
    assert {request["model"] for request in server.requests} == {"gpt-4.1"}


async def test_the_plain_transcript_ends_with_what_it_cost(tmp_path: Path) -> None:
    async with Providers([GREETING]).running() as server:
        code, out, _ = await command(
            tmp_path, "console", BELLA_VISTA_MODEL="openai", OPENAI_BASE_URL=server.openai_url
        )

    assert code == 0
    assert out.splitlines()[-1] == (
        "1 model call: 900 tokens read (800 of them cached), 20 written"
    )


async def test_the_local_model_says_nothing_of_cost(tmp_path: Path) -> None:
    code, out, _ = await command(tmp_path, "console", "--events", typed="Hi, I am Ada")

    told = events(out)
    assert code == 0
    assert "usage" not in [event["type"] for event in told]
    assert "usage" not in told[-1]


async def test_a_key_that_is_not_accepted_is_told_without_it(tmp_path: Path) -> None:
    """The server repeats the key, as some do; nothing else does."""
    async with Providers([refuses(401, f"Incorrect API key: {KEY}")] * 3).running() as server:
        code, out, log = await command(
            tmp_path,
            *("console", "--model", "openai", "--events"),
            typed="hello",
            OPENAI_API_KEY=KEY,
            OPENAI_BASE_URL=server.openai_url,
        )

    told = events(out)
    assert code == 0
    assert [event["type"] for event in told if event["type"] == "said"] == ["said", "said"]
    assert "the key was not accepted (401)" in log
    assert "Traceback" not in log
    assert KEY not in out + log


async def test_replay_holds_a_conversation_on_a_providers_model(tmp_path: Path) -> None:
    lines = ["model: openai", "turns:"]
    for words, _ in WHOLE_ORDER[:1]:
        lines += [f'  - user: "{words}"', "    state: {item_count: 2}", "    agent: order_taker"]
    (tmp_path / "order.yaml").write_text("\n".join(lines))
    async with Providers(script()[:4]).running() as server:
        code, out, log = await command(
            tmp_path, "replay", "order.yaml", OPENAI_BASE_URL=server.openai_url
        )

    assert (code, log) == (0, "")
    head, row, *_ = out.splitlines()
    assert head.split() == ["conversation", "turns", "calls", "seconds", "result"]
    assert (row.split()[2], row.split()[-1]) == ("4", "passed")


async def test_replay_needs_a_key_too(tmp_path: Path) -> None:
    (tmp_path / "order.yaml").write_text("model: openai\nturns: [{user: hello}]\n")

    code, _, log = await command(tmp_path, "replay", "order.yaml")

    assert code == 2
    assert "OPENAI_API_KEY" in log


async def test_an_address_with_a_key_in_it_is_refused_without_it(tmp_path: Path) -> None:
    address = "http://host/v1?api_key=x"

    code, _, log = await command(tmp_path, "console", "--model", "openai", OPENAI_BASE_URL=address)

    assert code == 2
    assert log.startswith("OPENAI_BASE_URL: ")
    assert address not in log


@pytest.mark.parametrize(
    "setting", ["ALL_PROXY=socks5://127.0.0.1:9", "SSL_CERT_FILE=/nowhere", "HTTPS_PROXY=bad://x"]
)
def test_a_client_that_cannot_be_made_here_is_one_line(
    setting: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, _, value = setting.partition("=")
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SystemExit) as left:
        main(["console", "--model", "openai", "--database", "sqlite:///orders.db"])

    assert left.value.code == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
