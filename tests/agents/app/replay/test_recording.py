"""``console --record``: what is written when, and that it replays."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agents.app.app import Environment, NewState
from agents.app.conversation_files import writing
from agents.app.conversation_files.reading import load_conversation
from agents.app.faults import InputError
from agents.app.replay.recording import ConversationRecorder
from agents.app.replay.running import run_conversation
from agents.testing import Clock, Conversation, Ids, ScriptedLLM, Step, calls, says
from bella_vista.app import APP
from bella_vista.settings import Settings
from state.commands import AddItem, SetCustomer
from state.shared import SharedState
from tests.agents.app.test_declaration import Loan, declared
from tests.bella_vista.small_restaurant import MENU

ROOT = Path(__file__).parents[4]
START = datetime.fromisoformat("2026-11-20T18:59:30-05:00")
EVENING = (
    says("Good evening, this is the automatic assistant."),
    calls(("set_customer", {"name": "Ada"}), "transfer_to_order_taker"),
    says("What would you like, Ada?"),
    calls(("add_item", {"name": "Tiramisu", "quantity": 2})),
    says("Two Tiramisu."),
)


class Recorded:
    """A recorded conversation in the restaurant, on a clock of the test's own."""

    def __init__(self, folder: Path, script: Iterable[Step] = EVENING, start: Any = ()) -> None:
        self.path = folder / "recorded.yaml"
        self.clock = Clock(START)
        menu = folder / "menu.yaml"
        menu.write_bytes(MENU.read_bytes())
        settings = Settings(menu=menu)
        self.recording = ConversationRecorder(APP, self.path, settings)
        environment = Environment(settings, lambda zone: self.clock, Ids())
        context = APP.context(self.recording.environment(environment))
        state = APP.new(context, NewState("order-1", "101", "terminal"))
        for command in start:
            state = command.apply(state, context)
        shared = SharedState(
            state, context, version=len(start), speaker="order_taker" if start else None
        )
        self.call = APP.call(shared)
        self.talk = Conversation(self.call, ScriptedLLM(script))
        self.recording.start(self.call)

    async def says(self, *words: str) -> None:
        async with self.talk:
            for one in words:
                await self.talk.user_says(one)
                self.clock.advance(seconds=20)
        await self.recording.aclose()


async def test_the_file_has_turns_and_end_and_nothing_that_changes(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)

    await recorded.says("Ada here, my card is 4111 1111 1111 1111", "two Tiramisu, please: now")

    assert (
        recorded.path.read_text()
        == """\
menu: "menu.yaml"
at: "2026-11-20T18:59-05:00"
greeting: {agent: greeter}
turns:
  - user: "Ada here, my card is [card]"
    agent: order_taker
    tools: [set_customer]
    handoff: [order_taker]
  - user: "two Tiramisu, please: now"
    agent: order_taker
    tools: [add_item]
end:
  stage: open
  channel: terminal
  currency: USD
  customer_name: Ada
  order_items:
    - {name: Tiramisu, quantity: 2, modifications: [], parts: [], unit_price: 650, line_total: 1300, allergens_met: []}
  item_count: 2
  order_summary: "2x Tiramisu (Total: $14.15)"
  subtotal: 1300
  discounts: []
  fees: []
  tax: 115
  tip: 0
  total: 1415
  coupons: []
  notes: []
  allergies: []
  person_wanted: false
""".replace('"menu.yaml"', "menu.yaml")
    )
    assert recorded.recording.outcome() == f"2 turns recorded in {recorded.path}"
    assert sorted(os.listdir(tmp_path)) == ["menu.yaml", "recorded.yaml"]


async def test_a_turn_in_another_minute_has_its_time_and_the_clock_stands_still_in_a_turn(
    tmp_path: Path,
) -> None:
    script = (*EVENING, says("Yes?"))
    recorded = Recorded(tmp_path, script)
    shown = recorded.call.shared.context.now

    assert shown().isoformat() == "2026-11-20T18:59:00-05:00"
    recorded.clock.advance(seconds=20)
    await recorded.says("Ada here", "two Tiramisu", "hello?")

    times = [turn.at for turn in load_conversation(APP, recorded.path).conversation.turns]
    assert times == [None, datetime.fromisoformat("2026-11-20T19:00-05:00"), None]


async def test_the_file_is_complete_after_each_turn(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)

    async with recorded.talk as talk:
        assert not recorded.path.exists()
        await talk.user_says("Ada here")
        await recorded.recording.written()
        file = load_conversation(APP, recorded.path)
        assert [turn.user for turn in file.conversation.turns] == ["Ada here"]
        assert file.conversation.end is not None
        assert file.conversation.end.given["customer_name"] == "Ada"
        await talk.user_says("two Tiramisu")
    await recorded.recording.aclose()


async def test_an_interrupted_turn_is_not_in_the_file(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path, (*EVENING[:3], says("Two", delay=60)))

    async with recorded.talk as talk:
        await talk.user_says("Ada here")
        talk.user_says_nowait("two Tiramisu")
        recorded.call.end("user_left")
    await recorded.recording.aclose()

    said = load_conversation(APP, recorded.path).conversation
    assert [turn.user for turn in said.turns] == ["Ada here"]


async def test_the_turn_in_which_the_agent_says_goodbye_is_in_the_file(tmp_path: Path) -> None:
    script = (says("Good evening."), calls("end_call", say="Goodbye."))
    recorded = Recorded(tmp_path, script)

    await recorded.says("wrong number, bye")

    assert recorded.call.ended == "agent_ended"
    (turn,) = load_conversation(APP, recorded.path).conversation.turns
    assert turn.tools == ("end_call",)


async def test_a_continued_order_starts_from_its_fields(tmp_path: Path) -> None:
    start = (SetCustomer(name="Ada"), AddItem(name="Margherita", size="large", quantity=2))
    script = (says("Welcome back."), *EVENING[3:])
    recorded = Recorded(tmp_path, script, start)

    await recorded.says("two Tiramisu")

    text = "script:\n- say: Welcome back.\n- calls: [{name: add_item, arguments: {name: Tiramisu, quantity: 2}}]\n- say: ok\n"
    recorded.path.write_text(recorded.path.read_text() + text)
    file = load_conversation(APP, recorded.path)
    assert file.conversation.start is not None
    assert file.conversation.start.given["active_agent"] == "order_taker"
    assert (await run_conversation(APP, file, Settings())).text == ""


def test_a_state_that_no_file_can_start_from_is_refused(tmp_path: Path) -> None:
    """The view has a field that the state does not."""
    library = declared(view=lambda state, version, agent: {"book": state.title})
    recording = ConversationRecorder(library, tmp_path / "c.yaml", library.settings.read())
    state = Loan(loan_id="loan-1", title="Emma")
    call = library.call(SharedState(state, "Main Street", version=1))

    with pytest.raises(InputError) as caught:
        recording.start(call)

    (fault,) = caught.value.faults
    assert fault.startswith("a recording cannot start from this loan: ")
    assert fault.endswith("book: expected Emma, got null")


# -- the file itself -------------------------------------------------------------------------------


async def test_a_full_disk_costs_no_conversation_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = Recorded(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with recorded.talk as talk:
        await talk.user_says("Ada here")
        await recorded.recording.written()
        monkeypatch.setattr(os, "fsync", full)
        await talk.user_says("two Tiramisu")
        await recorded.recording.aclose()

    assert recorded.recording.outcome() == (
        f"{recorded.path}: only 1 turns were recorded: No space left on device"
    )
    assert len(load_conversation(APP, recorded.path).conversation.turns) == 1
    assert sorted(os.listdir(tmp_path)) == ["menu.yaml", "recorded.yaml"]


async def test_a_file_that_somebody_else_makes_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)

    recorded.path.write_text("theirs")
    await recorded.says("Ada here", "two Tiramisu")

    assert recorded.path.read_text() == "theirs"
    assert isinstance(recorded.recording.fault, FileExistsError)


@pytest.mark.parametrize("links", [True, False])
def test_a_target_is_written_as_a_whole(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(source: object, target: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "new.yaml"
    target = writing.OutputFile(path, new=True)
    other = writing.OutputFile(path, new=True)

    target.write(b"one")
    target.write(b"two")

    assert path.read_bytes() == b"two"
    with pytest.raises(FileExistsError):
        other.write(b"three")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["there.yaml", "dangling.yaml", "folder", "none/new.yaml"])
def test_a_target_that_cannot_be_is_refused_at_once(name: str, tmp_path: Path) -> None:
    (tmp_path / "there.yaml").touch()
    (tmp_path / "dangling.yaml").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()

    with pytest.raises(InputError):
        writing.OutputFile(tmp_path / name, new=True)


# -- the command, in both applications -------------------------------------------------------------


def command(folder: Path, program: str, *words: str, typed: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", program, *words],
        cwd=folder,
        env=environment(folder),
        input=typed,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


def environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "BELLA_VISTA_DATABASE": f"sqlite:///{folder}/orders.db",
        "CLINIC_DATABASE": f"sqlite:///{folder}/visits.db",
        "CLINIC_CALENDAR": f"{folder}/calendar.db",
    }


TYPED = {
    "bella_vista": (
        "Hi, I am Ada",
        "two large margheritas, one without basil",
        "that is all",
        "pickup in 25 minutes",
        "yes",
        "cash",
        "no tip",
        "yes",
        "4",
        "no",
    ),
    "examples.clinic": (
        "I am Ada Lovelace, born 1990-12-10",
        "A check-up",
        "tuesday 9:30",
        "yes",
    ),
}


@pytest.mark.processes
@pytest.mark.parametrize("program", TYPED)
def test_a_recording_replays(program: str, tmp_path: Path) -> None:
    typed = "".join(f"{line}\n" for line in TYPED[program])

    at = ("--at", "2026-11-22T14:00")
    code, _, err = command(tmp_path, program, "console", "--record", "c.yaml", *at, typed=typed)
    assert (code, err) == (0, f"{len(TYPED[program])} turns recorded in c.yaml\n")

    code, out, err = command(tmp_path, program, "replay", "c.yaml", "--repeat", "2")
    assert (code, err) == (0, ""), out

    before = (tmp_path / "c.yaml").read_bytes()
    code, out, err = command(tmp_path, program, "console", "--record", "c.yaml", typed="hello\n")
    assert (code, out, err) == (
        2,
        "",
        "c.yaml exists already: name a new file, or delete this one\n",
    )
    assert (tmp_path / "c.yaml").read_bytes() == before


@pytest.mark.processes
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_console_that_is_ended_leaves_the_turns_so_far(
    how: signal.Signals, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "bella_vista", "console", "--events", "--record", "c.yaml"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("Hi, I am Ada\n")
    process.stdin.flush()
    while not (tmp_path / "c.yaml").exists():
        assert process.poll() is None
    process.stdin.write("one large margherita\n")
    process.stdin.flush()
    while '"type": "your_turn", "turn": 2' not in process.stdout.readline():
        pass
    process.send_signal(how)
    process.communicate()

    # The second turn may have been under way to the disk.
    said = load_conversation(APP, tmp_path / "c.yaml").conversation
    assert [turn.user for turn in said.turns] in (
        ["Hi, I am Ada"],
        ["Hi, I am Ada", "one large margherita"],
    )
    if how is signal.SIGINT:
        assert len(said.turns) == 2
