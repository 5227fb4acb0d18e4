"""Conversation files of an application with typed options, a number of its own and a slow action."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from pydantic import BaseModel
from pydantic_settings import SettingsConfigDict

from agents.app.app import App, Environment, NewState
from agents.app.cli import main
from agents.app.conversation_files.reading import ConversationFaults, load_conversation
from agents.app.parts import CommandLine, Replay
from agents.app.replay.recording import ConversationRecorder
from agents.app.replay.running import run_conversation
from agents.app.settings import AppSettings
from agents.handoff import Agent, Call, Graph, Opening, SlowAction
from agents.testing import Conversation, Ids, ScriptedLLM, calls, says
from state.shared import Command, SharedState


class GarageSettings(AppSettings):
    model_config = SettingsConfigDict(env_prefix="GARAGE_")

    agent_name: str = "garage"
    supplier_s: float = 8.0
    bays: int = 2


@dataclass(frozen=True)
class Garage:
    supplier_s: float
    bays: int


class Repair(BaseModel, frozen=True):
    number: str
    price: int | None = None


class SetPrice(Command[Repair, Garage]):
    """Note the price."""

    op: Literal["set_price"] = "set_price"
    price: int

    def apply(self, state: Repair, context: Garage) -> Repair:
        return state.model_copy(update={"price": self.price})


class AskSupplier(SlowAction):
    """Ask what the part costs."""

    op: Literal["ask_supplier"] = "ask_supplier"
    wait: ClassVar[str] = "I am asking the supplier."

    async def run(self, call: Call[Repair, Garage]) -> str:
        await asyncio.sleep(call.shared.context.supplier_s)
        price = SetPrice(price=10 + call.shared.context.bays)
        await call.shared.apply(price, actor=call.speaker, key=self.idempotency_key)
        return f"{price.price} euros"


class Desk(Agent[Repair, Garage]):
    name = "desk"
    prompt = "You are the desk."
    opening = Opening(first="Greet.", handed_over="Go on.", come_back="Greet.", canned="Hello.")
    offers = (AskSupplier,)


GARAGE: App[Repair, Garage] = App(
    name="garage",
    noun="repair",
    plural="repairs",
    prefix="garage",
    state=Repair,
    settings=GarageSettings,
    context=lambda environment: Garage(environment.settings.supplier_s, environment.settings.bays),
    new=lambda context, new: Repair(number=new.number),
    graph=Graph((Desk,), (), start="desk"),
    command_line=CommandLine(
        help="A garage.",
        options={"supplier_s": ("S", "How long the supplier takes."), "bays": ("N", "The bays.")},
    ),
    replay=Replay(generated=("number",)),
)
ASKED = (
    says("Hello."),
    calls("ask_supplier"),
    says("It is 13 euros."),
    says("You are welcome."),
)


async def record(path: Path) -> None:
    settings = GarageSettings(supplier_s=0, bays=3)
    recorder = ConversationRecorder(GARAGE, path, settings)
    environment = Environment(settings, lambda zone: lambda: None, Ids())  # type: ignore[arg-type, return-value]
    context = GARAGE.make_context(environment)
    shared = SharedState(GARAGE.new(context, NewState("repair-7", "731", "terminal")), context)
    call = GARAGE.call(shared)
    talk = Conversation(call, ScriptedLLM(ASKED))
    recorder.start(call)
    async with talk:
        await talk.user_says("What does it cost?")
        await talk.results_told()
        await talk.user_says("Thanks")
    await recorder.aclose()


async def test_a_recording_holds_options_in_their_types_and_nothing_generated(
    tmp_path: Path,
) -> None:
    path = tmp_path / "c.yaml"
    await record(path)
    text = path.read_text()

    assert text.startswith("supplier_s: 0.0\nbays: 3\n")
    assert "results_told: true" in text
    assert text.count("results_told") == 1
    assert "number" not in text


async def test_it_replays_with_the_slow_result_told_where_the_user_waited(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    script = (
        "script: [{say: Hello.}, {calls: [{name: ask_supplier}]},"
        " {say: It is 13 euros.}, {say: You are welcome.}]\n"
    )
    await record(path)
    path.write_text(path.read_text() + script)

    run = await run_conversation(GARAGE, load_conversation(GARAGE, path))
    path.write_text(path.read_text().replace("price: 13", "price: 14"))
    other = await run_conversation(GARAGE, load_conversation(GARAGE, path))

    assert run.text == ""
    assert "price: expected 14, got 13" in other.text


async def test_a_turn_waits_for_a_result_only_where_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    text = (
        "supplier_s: 0.05\n"
        "script: [{say: Hello.}, {calls: [{name: ask_supplier}]}%s]\n"
        "turns:\n- user: What does it cost?\n  tools: %s\n%s"
    )
    path.write_text(text % ("", "[]", ""))
    at_once = await run_conversation(GARAGE, load_conversation(GARAGE, path))
    path.write_text(text % (", {say: It is 12.}", "[ask_supplier]", "  results_told: true\n"))
    waited = await run_conversation(GARAGE, load_conversation(GARAGE, path))

    assert (at_once.text, waited.text) == ("", "")


@pytest.mark.parametrize(
    ("option", "fault"),
    [
        ("supplier_s: soon", "c.yaml:1: supplier_s: has to be a number"),
        ("bays: 1.5", "c.yaml:1: bays"),
    ],
)
def test_an_option_of_another_type_is_a_fault(tmp_path: Path, option: str, fault: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"{option}\nturns: [{{user: Hello}}]\n")

    with pytest.raises(ConversationFaults) as faulty:
        load_conversation(GARAGE, path)

    assert fault in str(faulty.value)


def test_an_option_with_an_underscore_is_typed_with_a_hyphen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("script: [{say: Hello.}, {say: Yes.}]\nturns: [{user: Hello}]\n")
    codes = []
    for seconds in ("0.5", "soon"):
        with pytest.raises(SystemExit) as left:
            main(GARAGE, ["replay", str(path), "--supplier-s", seconds])
        codes.append(left.value.code)

    assert codes == [0, 2]
    assert "--supplier-s: has to be a number" in capsys.readouterr().err
