"""What docs/from-plain-livekit.md says about both sides holds."""

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from livekit.agents import AgentSession, RunContext, function_tool

from agents.handoff import Call, Graph
from agents.testing import Conversation, ScriptedLLM, calls, says
from state.shared import SharedState

PAGE = Path(__file__).parents[1] / "docs" / "from-plain-livekit.md"
EMMA_PLEASE = "I am Ada, and I want Emma."
BOTH = calls(("set_reader", {"name": "Ada"}), "transfer_to_shelf")
FOUR = ("Emma", "Persuasion", "Dracula", "Ulysses")


def typed(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    text = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(rf"\*\*`{name}`\*\*\n\n```python\n(.*?)```", text, re.DOTALL)
    made = ModuleType(name.removesuffix(".py"))
    monkeypatch.setitem(sys.modules, made.__name__, made)
    exec(compile(code, name, "exec"), vars(made))
    return made


async def plain(module: Any, model: ScriptedLLM, words: str) -> tuple[Any, list[str]]:
    session: AgentSession[Any] = AgentSession(
        userdata=module.Loan(), llm=model, vad=None, turn_handling={"turn_detection": None}
    )
    await session.start(module.Desk(), session_host=False, record=False)
    result: Any = await session.run(user_input=words)
    said = [
        event.item.text_content or ""
        for event in result.events
        if event.type == "message" and event.item.role == "assistant"
    ]
    loan = session.userdata
    await session.aclose()
    return loan, said


async def test_a_handoff_beside_a_tool_was_answered_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = typed("before.py", monkeypatch)
    model = ScriptedLLM([says("Your name?"), BOTH, says("One moment."), says("Which book?")])

    loan, said = await plain(before, model, EMMA_PLEASE)

    assert loan.reader == "Ada"
    assert said == ["One moment.", "Which book?"]


async def test_a_handoff_beside_a_command_is_answered_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    after = typed("after.py", monkeypatch)
    model = ScriptedLLM([says("Your name?"), BOTH, says("Which book?")])

    async with Conversation(after.library(), model) as talk:
        turn = await talk.user_says(EMMA_PLEASE)

    assert talk.state == after.Loan(reader="Ada")
    assert turn.said == ["Which book?"]
    assert turn.handoffs == [("desk", "shelf")]


async def test_a_refusal_is_not_a_success(monkeypatch: pytest.MonkeyPatch) -> None:
    after = typed("after.py", monkeypatch)
    model = ScriptedLLM(
        [
            says("Which book?"),
            calls(*(("lend", {"title": title}) for title in FOUR)),
            says("Three of them."),
        ]
    )
    shared = SharedState(after.Loan(reader="Ada"), None, speaker="shelf")

    async with Conversation(Call(shared, after.LIBRARY), model) as talk:
        turn = await talk.user_says("All four")

    assert len(talk.state.books) == 3
    assert [tool.is_error for tool in turn.tools] == [False, False, False, True]
    assert turn.tools[3].output == "Nothing was changed. refused: Three books at most."


async def test_a_function_tool_of_an_agent_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    after = typed("after.py", monkeypatch)

    class Desk(after.Desk):  # type: ignore[misc, name-defined]
        @function_tool
        async def ring(self, context: RunContext[Any]) -> str:
            """Ring the bell."""
            return f"Rung for {context.userdata.state.reader}."

    graph = Graph((Desk, after.Shelf), after.LIBRARY.handoffs, start="desk")
    model = ScriptedLLM([says("Your name?"), calls("ring"), says("There.")])

    async with Conversation(
        Call(SharedState(after.Loan(reader="Ada"), None), graph), model
    ) as talk:
        turn = await talk.user_says("Ring, please")

    assert turn.said == ["There."]
    assert ("output", "Rung for Ada.") in model.requests[-1].texts


async def test_an_application_has_its_calls_redacted(monkeypatch: pytest.MonkeyPatch) -> None:
    after = typed("after.py", monkeypatch)
    app = typed("library_app.py", monkeypatch).APP
    model = ScriptedLLM([says("Your name?"), says("No need.")])

    async with Conversation(app.call(SharedState(after.Loan(), None)), model) as talk:
        turn = await talk.user_says("My card is 4242 4242 4242 4242")

    assert turn.heard == ["My card is [card]"]
    assert app.page_spec.all_features[:2] == ("say", "loan.apply")
