from pathlib import Path

import pytest

from agents.app.conversation_files.form import ConversationForm
from agents.app.conversation_files.reading import (
    ConversationFaults,
    conversation_schema,
    load_conversation,
    load_script,
)
from bella_vista.app import APP


def read(tmp_path: Path, text: str) -> ConversationForm:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    return load_conversation(APP, path).conversation


def faults(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(ConversationFaults) as caught:
        read(tmp_path, text)
    return [fault.removeprefix(f"{tmp_path}/") for fault in caught.value.faults]


def test_the_guests_words_stay_as_they_are_written(tmp_path: Path) -> None:
    said = read(tmp_path, "turns:\n- user: yes\n- user: 17:30\n- user: no # thanks\n")

    assert [turn.user for turn in said.turns] == ["yes", "17:30", "no"]


def test_fields_of_the_order_have_their_own_types(tmp_path: Path) -> None:
    said = read(
        tmp_path,
        """
turns:
- user: hello
  state: {phone: +12125550142, total: 900, person_wanted: no, email: null, tip_percentage: 7.5}
""",
    )

    state = said.turns[0].state
    assert state is not None
    assert {name: str(value) for name, value in state.given.items()} == {
        "phone": "+12125550142",
        "total": "900",
        "person_wanted": "False",
        "email": "None",
        "tip_percentage": "7.5",
    }


def test_a_tools_arguments_are_read_as_json_would(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(
        "- calls: [{name: a, arguments: {n: 2, f: -0.5, t: '2', y: true, no: no, list: [null, 1e3]}}]\n"
    )

    (step,) = load_script(path)

    assert step.calls[0].arguments == {
        "n": 2,
        "f": -0.5,
        "t": "2",
        "y": True,
        "no": "no",
        "list": [None, 1000.0],
    }


def test_a_script_may_stand_in_a_conversation(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("turns: [{user: hello}]\nscript: [{say: Good evening}]\n")

    assert [step.say for step in load_script(path)] == ["Good evening"]


def test_every_fault_is_told_with_its_line(tmp_path: Path) -> None:
    text = """\
meny: x.yaml
turns:
- user: hello
  stat: {total: 1}
- state:
    totl: 900
    order_items:
    - {name: Tiramisu, quantity: two}
script:
- delay: 1
at: tomorrow
"""

    assert faults(tmp_path, text) == [
        'c.yaml:1: a conversation has no key "meny" - did you mean "menu"?',
        'c.yaml:4: turns 1 has no key "stat" - did you mean "state"?',
        'c.yaml:5: turns 2 needs "user"',
        'c.yaml:6: turns 2, state has no key "totl" - did you mean "total"?',
        "c.yaml:8: turns 2, state, order_items 1, quantity: has to be a whole number",
        'c.yaml:10: script 1: a step needs "say", "calls" or "error"',
        'c.yaml:11: at: "tomorrow" is not a time: write it like 2026-11-20T19:00, with or without an offset',
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "c.yaml:1: the file is empty"),
        ("- a\n", "c.yaml:1: a conversation has to be a mapping of keys to values"),
        ("turns: []\n", "c.yaml:1: turns: a conversation needs at least one turn"),
        ("at: 2026-11-20\n", 'c.yaml:1: a conversation needs "turns"'),
        ("turns: [{user: a}]\nturns: [{user: b}]\n", '"turns" is here twice'),
        ("turns: [\n", "this is not valid YAML"),
        ("[" * 5000, "levels deep"),
    ],
)
def test_a_file_that_is_no_conversation_is_told_so(tmp_path: Path, text: str, fault: str) -> None:
    assert fault in "\n".join(faults(tmp_path, text))


def test_a_file_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ConversationFaults, match="there is no such file"):
        load_conversation(APP, tmp_path / "none.yaml")


def test_the_schema_knows_every_key_that_is_read() -> None:
    schema = conversation_schema(APP)

    named = {"start": "order"}
    keys = {named.get(name, name) for name in ConversationForm.model_fields} | {"menu"}
    assert schema["properties"].keys() == keys
    assert schema["additionalProperties"] is False
