"""The code of docs/clients.md: compiled against the packages as they are installed, or run in a room."""

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from livekit import rtc

from examples.clinic.app import APP as CLINIC
from rpc.page import contract
from tests.agents.app.rooms.conftest import Calls, calls, house
from tests.clients.browser import browser_page, serving
from tests.clients.toolchain import CLIENTS, node_program, run_node
from tests.livekit import LiveKit, new_identity, until

__all__ = ["calls", "house"]  # fixtures

pytestmark = [pytest.mark.processes, pytest.mark.timeout(180)]

PAGE = (CLIENTS.parent / "docs" / "clients.md").read_text(encoding="utf-8")
RATE = 24_000
TSC = CLIENTS / "node_modules/typescript/bin/tsc"
VITE = CLIENTS / "node_modules/vite/bin/vite.js"
PACKAGES = {
    "core": "@typed-handoffs/client",
    "react": "@typed-handoffs/react",
    "bella-vista": "@bella-vista/client",
}

COMPILER_OPTIONS = {
    "target": "ES2022",
    "lib": ["ES2022", "DOM", "DOM.Iterable"],
    "module": "ESNext",
    "moduleResolution": "bundler",
    "jsx": "react-jsx",
    "strict": True,
    "noEmit": True,
    "skipLibCheck": True,  # some types of livekit-client 2.23.0 need packages that it does not install
    "types": [],
}

REMOTE = """
import { join } from "./own.js";

const socket = new WebSocket(`ws://${location.host}/control`);
const tell = (what) => socket.send(JSON.stringify(what));
const snapshot = { lines: {} };
let client;
socket.onmessage = async ({ data }) => {
  const { id, method, given } = JSON.parse(data);
  try {
    if (method === "join") {
      client = await join(({ line, ...news }) => {
        Object.assign(snapshot, news);
        if (line) snapshot.lines[line.id] = line;
        tell({ snapshot });
      });
      tell({ id, value: null });
    } else tell({ id, value: await client[method](...given) });
  } catch (error) {
    tell({ id, error: { code: error.code ?? 0, detail: String(error) } });
  }
};
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of somebody else with the packages as they are published: built, without their sources."""
    node_program()
    folder = tmp_path_factory.mktemp("project")
    modules, packages = folder / "node_modules", folder / "packages"
    modules.mkdir()
    packages.mkdir()
    for one in (CLIENTS / "node_modules").iterdir():
        if one.name not in ("@typed-handoffs", "@bella-vista") and not one.name.startswith("."):
            (modules / one.name).symlink_to(one)
    shutil.copy(CLIENTS / "tsconfig.base.json", packages)
    for source, name in PACKAGES.items():
        kept = shutil.ignore_patterns("node_modules", "dist", "tests")
        package = Path(shutil.copytree(CLIENTS / source, packages / source, ignore=kept))
        (modules / name).parent.mkdir(exist_ok=True)
        (modules / name).symlink_to(package)
        run_node(TSC, "-p", package / "tsconfig.build.json")
        shutil.rmtree(package / "src")
        published = json.loads((package / "package.json").read_text())["files"]
        assert {one.name for one in package.iterdir() if one.is_dir()} == set(published)
    return folder


def test_the_code_for_pages_compiles_with_the_published_packages(project: Path) -> None:
    sources = project / "src"
    sources.mkdir()
    plain = blocks("ts")
    for number, block in enumerate(blocks("tsx")):
        (sources / f"block{number}.tsx").write_text(block)
    for number, block in enumerate(plain):
        (sources / f"plain{number}.ts").write_text(block)
    (project / "clinic.json").write_text(
        json.dumps(contract(CLINIC.page_spec, "The RPC of clinic"))
    )
    types = project / "node_modules/@typed-handoffs/client/bin/typed-handoffs-types.mjs"
    run_node(types, project / "clinic.json", sources / "clinic.ts")
    options = {"compilerOptions": COMPILER_OPTIONS, "include": ["src"]}
    (project / "tsconfig.json").write_text(json.dumps(options))
    (project / "index.html").write_text('<script type="module" src="./src/block0.tsx"></script>')

    run_node(TSC, "-p", project / "tsconfig.json")
    run_node(VITE, "build", project, "--outDir", project / "site", "--logLevel", "error")

    assert len(blocks("tsx")) == 5
    assert len(plain) == 1
    assert list((project / "site").glob("assets/*.js"))


async def test_the_client_in_plain_javascript_works(
    calls: Calls, livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    (own,) = blocks("js")
    node_program()
    page = tmp_path / "own"
    page.mkdir()
    (page / "node_modules").symlink_to(CLIENTS / "node_modules")
    (page / "own.js").write_text(own)
    (page / "remote.js").write_text(REMOTE)
    (page / "index.html").write_text('<script type="module" src="./remote.js"></script>')
    built = ("--outDir", tmp_path / "site", "--emptyOutDir", "--logLevel", "error")
    await asyncio.to_thread(run_node, VITE, "build", page, *built)
    token = livekit.token(room_name, new_identity())
    answer = {"server_url": livekit.url, "participant_token": token}

    async with browser_page(tmp_path / "site", tmp_path / "profile", answer) as guest:
        async with calls.agent(room_name):
            await guest.call("join")
            await guest.until(lambda seen: is_turn(seen, 0), "the first turn")
            assert await guest.call("say", "two large margheritas please") == 1
            await guest.until(lambda seen: quantities(seen["state"]) == [2], "the order")
            await guest.until(lambda seen: is_turn(seen, 1), "the next turn")
            lines = guest.snapshot["lines"].values()
            assert {line["speaker"] for line in lines} == {"greeter", "order_taker"}
            assert all(line["final"] for line in lines)
            await guest.call("apply", {"op": "add_item", "name": "Tiramisu", "quantity": 1})
            assert quantities(guest.snapshot["state"]) == [2, 1]
        async with calls.agent(room_name):
            await guest.call("say", "goodbye")
            await guest.until(lambda seen: seen.get("ended"), "the end")
            first = guest.snapshot["state"]["order_id"]
            await guest.call("say", "one calzone please")
            await guest.until(lambda seen: seen["state"]["order_id"] != first, "another call")
        await guest.call("leave")


async def test_the_client_in_python_works(
    calls: Calls, livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    (own,) = blocks("python")
    names: dict[str, Any] = {}
    exec(compile(own, "docs/clients.md", "exec"), names)
    shown: dict[str, list[Any]] = {"order": [], "turn": [], "line": [], "ended": [], "sound": []}
    guest = names["Client"](lambda kind, what: shown[kind].append(what))
    token = livekit.token(room_name, new_identity())
    answer = {"server_url": livekit.url, "participant_token": token}
    async with serving(tmp_path, answer) as (_, server), aiohttp.ClientSession() as session:
        url, token = await names["ask_for_token"](session, server)

    async with calls.agent(room_name):
        await guest.join(url, token)
        await until(lambda: shown["turn"] and shown["turn"][-1]["your_turn"], what="the first turn")
        assert await guest.say("two large margheritas please") == 1
        await until(lambda: quantities(guest.order) == [2], what="the order")
        await until(lambda: shown["turn"][-1]["turn"] == 1, what="the next turn")
        assert {speaker for _, speaker, _ in shown["line"]} == {"greeter", "order_taker"}
        await guest.apply("add_item", name="Tiramisu", quantity=1)
        assert quantities(guest.order) == [2, 1]
    async with calls.agent(room_name):
        assert await guest.say("goodbye") == 2
        await until(lambda: shown["ended"], what="the end")
        first = guest.order["order_id"]
        await guest.say("one calzone please")
        await until(lambda: guest.order["order_id"] != first, what="another call")
    await guest.leave()


async def test_what_the_microphone_of_the_python_client_hears_is_played_by_another(
    livekit: LiveKit, room_name: str
) -> None:
    (own,) = blocks("python")
    names: dict[str, Any] = {}
    exec(compile(own, "docs/clients.md", "exec"), names)
    heard: list[rtc.AudioFrame] = []
    listener = names["Client"](lambda kind, what: heard.append(what))
    speaker = names["Client"](lambda kind, what: None)
    joining = asyncio.ensure_future(
        listener.join(livekit.url, livekit.token(room_name, new_identity()))
    )
    await speaker.room.connect(livekit.url, livekit.token(room_name, new_identity()))
    microphone = await speaker.microphone(RATE)
    loud = rtc.AudioFrame(b"\x00\x20" * (RATE // 100), RATE, 1, RATE // 100)

    async def speak() -> None:
        while True:
            await microphone.capture_frame(loud)

    speaking = asyncio.ensure_future(speak())
    try:
        await until(lambda: any(any(frame.data) for frame in heard), what="the sound")
    finally:
        for task in (speaking, joining):
            task.cancel()
        await asyncio.gather(speaking, joining, return_exceptions=True)
        await speaker.leave()
        await listener.leave()
        await microphone.aclose()


def is_turn(seen: dict[str, Any], number: int) -> bool:
    turn = seen.get("turn")
    return turn is not None and turn["your_turn"] and turn["turn"] >= number


def quantities(order: dict[str, Any]) -> list[int]:
    return [line["quantity"] for line in order["order_items"]]
