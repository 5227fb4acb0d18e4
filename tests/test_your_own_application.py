"""The page "Your own application" as a reader types it: in the tutorial's folder, with a server's rooms."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from livekit import rtc

from tests.livekit import LiveKit, is_turn, until
from tests.readers import ROOT, Typed

MOST_LINES = 120
"""The file with the declaration is at most this long."""

NEEDS_A_SERVER = ("hotel_app.py dev", "hotel_app.py join")

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Typed:
    home = tmp_path_factory.mktemp("reader")
    folder = home / "hotel"
    folder.mkdir()
    # A reader works in the environment that holds these packages; this process may run another copy.
    reader = Typed(folder, {"HOME": str(home), "XDG_DATA_HOME": str(home), "PYTHONPATH": str(ROOT)})
    reader.follow("tutorial.md", without=("",))
    reader.left.clear()
    reader.follow("your-own-application.md", without=NEEDS_A_SERVER)
    return reader


def without_id(text: str) -> str:
    """Return a text of the console's with the id of the page's example, and the reader's python."""
    text = re.sub(r"\b\w{4}-\w{4}-\w{4}\b", "abcd-efgh-jkmn", text)
    return re.sub(r"Go on with: \S*python", "Go on with: python", text)


def test_the_terminal_shows_what_the_page_shows(typed: Typed) -> None:
    assert len(typed.shown) == 2
    for came, promised in typed.shown:
        assert without_id(came).split() == promised.split()


def test_every_command_of_the_declaration_works(typed: Typed) -> None:
    commands = " ".join(typed.ran)

    for named in ("console", "graph", "schema rpc", "doctor", "stays list", "stays show 101"):
        assert f"hotel_app.py {named}" in commands
    assert (
        "2 passed"
        in typed.ran["pytest -q test_hotel_app.py\nmypy --strict hotel_app.py test_hotel_app.py"]
    )
    assert typed.left == [
        "python hotel_app.py dev",
        "python hotel_app.py join --room demo --identity ada --rpc hello '{}'",
        "python hotel_app.py join --room demo --identity ada --rpc stay.apply"
        """ '{"command": {"op": "book_nights", "nights": 2}}'""",
        r"printf 'I am Ada\n2 nights\n' | python hotel_app.py join",
    ]


def test_a_stored_stay_is_listed_shown_and_resumed(typed: Typed) -> None:
    shown = json.loads(typed.run("python hotel_app.py stays show 101 --json"))
    more = typed.run(r"printf 'Good evening\n' | python hotel_app.py console --stay 101")

    assert re.fullmatch(r"\w{4}-\w{4}-\w{4}", shown.pop("stay_id"))
    assert shown | {"version": 0} == {
        "guest": "Ada",
        "nights": 2,
        "tickets": ["Tosca"],
        "version": 0,
        "active_agent": "concierge",
    }
    assert "guest: Ada" in more


def test_the_rpc_is_named_after_the_noun(typed: Typed) -> None:
    methods = json.loads(typed.run("python hotel_app.py schema rpc"))["methods"]

    assert {"hello", "say", "get_stay_state", "stay.apply", "stay.subscribe"} <= {*methods}


def test_the_declaration_is_short(typed: Typed) -> None:
    lines = (typed.folder / "hotel_app.py").read_text(encoding="utf-8").splitlines()

    assert 20 < len(lines) <= MOST_LINES


def test_the_readers_files_are_formatted_and_linted(typed: Typed) -> None:
    ruff = f"python -m ruff {{}} --config {ROOT / 'pyproject.toml'} hotel_app.py test_hotel_app.py"

    typed.run(ruff.format("format --check"))
    sorted_as = """'lint.isort.known-first-party=["agents", "state"]'"""
    typed.run(ruff.format(f"check --ignore D,S101 --config {sorted_as}"))


@pytest.fixture(scope="module")
def served(
    typed: Typed, livekit: LiveKit, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveKit]:
    """A server with the reader's ``dev``."""
    log = tmp_path_factory.mktemp("dev") / "log"
    with log.open("wb") as written:
        worker = subprocess.Popen(
            [sys.executable, "hotel_app.py", "dev"],
            cwd=typed.folder,
            env={**os.environ, **typed.environment, **livekit.environment, "HOTEL_IDLE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
        )
        try:
            deadline = time.monotonic() + 90
            while "The worker is ready" not in log.read_text():
                assert worker.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.1)
            yield livekit
        finally:
            worker.terminate()
            worker.wait(timeout=60)


async def test_a_room_speaks_of_stays(served: LiveKit, room_name: str) -> None:
    await served.dispatch(room_name, agent="hotel")
    notices = ("stay_state_changed", "your_turn_to_speak")
    async with served.joined(room_name, offers=notices) as guest:
        hello = await guest.hello()
        await guest.call("stay.subscribe")
        await until(lambda: is_turn(guest, 0), what="the turn after the greeting")
        said = await guest.call("say", {"text": "I am Ada", "key": "1"})
        await until(lambda: is_turn(guest, 1), what="the turn after the name")
        booked = await guest.call(
            "stay.apply", {"command": {"op": "book_nights", "nights": 2}, "version": 1}
        )
        with pytest.raises(rtc.RpcError) as refused:
            await guest.call(
                "stay.apply", {"command": {"op": "book_nights", "nights": 99}, "version": 2}
            )
        attributes = await guest.attributes("hotel.active_agent", "hotel.version")

    assert hello["agent"] == "hotel"
    assert re.fullmatch(r"\w{4}-\w{4}-\w{4}", hello["stay_id"])
    assert said == {"turn": 1}
    assert (booked["stay"]["guest"], booked["stay"]["nights"]) == ("Ada", 2)
    assert refused.value.code == 4022
    assert guest.called("stay_state_changed")
    assert attributes["hotel.active_agent"] == "reception"


async def test_the_commands_that_join_work_as_they_are_written(
    typed: Typed, served: LiveKit
) -> None:
    visitor = Typed(typed.folder, {**typed.environment, **served.environment})
    _, hello, book, talk = typed.left
    replied = json.loads(await asyncio.to_thread(visitor.run, hello))
    booked = json.loads(await asyncio.to_thread(visitor.run, book))
    talked = await asyncio.to_thread(visitor.run, talk)

    assert replied["agent"] == "hotel"
    assert booked["stay"]["nights"] == 2
    assert "Reception: Thank you, Ada." in talked
    assert "nights: 2" in talked
