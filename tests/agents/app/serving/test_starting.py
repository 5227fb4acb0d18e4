import json
import signal
import socket
from pathlib import Path

import pytest

from tests.agents.app.serving.processes import (
    REGISTERED,
    SMALL_APP,
    Deployment,
    Running,
    answer,
    clean_environment,
    started,
)
from tests.livekit import until

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]

START = ("-m", "bella_vista", "start")
SECRET = "a-secret-that-nobody-may-ever-read-anywhere"
WORDS = "my card is at Baker Street two two one b"


async def refused(folder: Path, *options: str, **more: str) -> tuple[int, list[str]]:
    with started((*START, *options), clean_environment(folder, **more), folder) as running:
        return await running.ends(), running.lines


async def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "menu.yaml").write_text("restaurant: 5\n")

    code, lines = await refused(
        tmp_path,
        *("--at", "supper time", "--menu", "menu.yaml", "--database", "mongo://nobody"),
        LIVEKIT_URL="http://rooms.example",
        LIVEKIT_API_SECRET="secret",
        BELLA_VISTA_MODEL="openai",
        BELLA_VISTA_CALLS="0",
        BELLA_VISTA_GRACE="soon",
        BELLA_VISTA_STT="deepgram",
    )

    assert code == 2
    named = [line.partition(":")[0] for line in lines if not line.startswith("menu.yaml")]
    assert named[:7] == [
        "--at",
        "--database",
        "LIVEKIT_URL",
        "LIVEKIT_API_KEY",
        "BELLA_VISTA_GRACE",
        "BELLA_VISTA_CALLS",
        "OPENAI_API_KEY",
    ]
    assert any(line.startswith("menu.yaml:1") for line in lines)


async def test_the_keys_of_development_are_for_this_machine_only(tmp_path: Path) -> None:
    code, lines = await refused(
        tmp_path,
        LIVEKIT_URL="wss://rooms.example",
        LIVEKIT_API_KEY="devkey",
        LIVEKIT_API_SECRET="secret",
    )

    assert code == 2
    assert [line.partition(":")[0] for line in lines] == ["LIVEKIT_API_KEY", "LIVEKIT_API_SECRET"]
    assert '"secret"' not in "".join(lines)


async def test_a_menu_that_is_wrong_and_a_database_that_is_none_are_said_at_once(
    tmp_path: Path,
) -> None:
    (tmp_path / "menu.yaml").write_text("restaurant: 5\n")
    (tmp_path / "orders.db").write_text("this is no database, whatever its name may say" * 100)

    code, lines = await refused(
        tmp_path,
        LIVEKIT_URL="ws://127.0.0.1:1",
        LIVEKIT_API_KEY="a-key",
        LIVEKIT_API_SECRET=SECRET,
        BELLA_VISTA_MENU="menu.yaml",
    )

    assert code == 2
    assert any("menu.yaml" in line for line in lines)
    assert any("orders.db" in line or "database" in line for line in lines)


async def test_a_key_that_the_server_refuses_ends_the_worker_with_a_word(
    deployment: Deployment,
) -> None:
    environment = deployment.environment(LIVEKIT_API_SECRET=SECRET)

    with started(("-m", "agents.app.serving", SMALL_APP), environment) as worker:
        code = await worker.ends()

    assert code == 1
    (said,) = worker.logged()
    assert (said["level"], said["message"]) == (
        "error",
        "LIVEKIT_API_KEY, LIVEKIT_API_SECRET: rejected by the LiveKit server",
    )
    assert SECRET not in worker.text


async def test_a_server_that_is_not_there_yet_is_waited_for(deployment: Deployment) -> None:
    environment = deployment.environment(LIVEKIT_URL="ws://127.0.0.1:1")

    with started(("-m", "agents.app.serving", SMALL_APP), environment) as worker:
        await worker.says("LiveKit server unreachable, retrying")
        await worker.says("failed to connect to livekit, retrying")
        worker.signal(signal.SIGTERM)
        code = await worker.ends()

    assert code == 0


async def test_a_port_that_is_taken_is_named(deployment: Deployment) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        environment = deployment.environment(BELLA_VISTA_HEALTH_PORT=str(port))

        with started(("-m", "agents.app.serving", SMALL_APP), environment) as worker:
            code = await worker.ends()

    assert code == 1
    assert worker.logged()[-1]["message"].startswith("port already in use: BELLA_VISTA_HEALTH_PORT")
    assert worker.logged()[-1]["health_port"] == port


async def test_no_log_holds_what_a_guest_has_said(
    shared_deployment: Deployment, one_worker: Running, room_name: str
) -> None:
    await one_worker.says(REGISTERED)
    await shared_deployment.send(room_name)
    async with shared_deployment.livekit.joined(room_name) as guest:
        told = await answer(guest)
        await guest.call("log", {"words": WORDS})
        await guest.call("log", {"words": shared_deployment.livekit.api_secret})
        await guest.call("leave")
        await until(
            lambda: any(
                (line["message"], line.get("job_id")) == ("job process exited", told["job"])
                for line in one_worker.logged()
            ),
            60,
        )

    mine = [line for line in one_worker.logged() if line.get("job_id") == told["job"]]
    ours = [line for line in mine if line["message"] == "ours failed"]
    assert ours[0]["error"] == "ValueError"
    assert ours[0]["line"] == "L1"
    assert any("small_app.py" in place for place in ours[0]["at"])
    assert {"it failed", "failed to say", "unknown function"} <= {line["message"] for line in mine}
    assert "unhandled exception in a thread" in {line["message"] for line in mine}
    for part in (WORDS, "Baker", shared_deployment.livekit.api_secret):
        assert part not in one_worker.text
    assert json.loads(one_worker.lines[0])["level"] == "info"
