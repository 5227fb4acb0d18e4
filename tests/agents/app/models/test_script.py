from pathlib import Path

import pytest

from agents.app.models.script import ScriptFaults, load_script


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


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: 1\n", 'a script has to be a list of steps, or a mapping with the key "script"'),
        ("", 'a script has to be a list of steps, or a mapping with the key "script"'),
        ("- delay: 1\n", '0: Value error, a step needs "say", "calls" or "error"'),
        ("script: [{say: a}, {sya: b}]\n", "1.sya: Extra inputs are not permitted"),
        ("- &a {say: b}\n- *a\n", "an alias is not allowed: *a"),
    ],
)
def test_a_script_with_a_fault_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(text)

    with pytest.raises(ScriptFaults) as refused:
        load_script(path)

    assert f"{path}: {fault}" in refused.value.faults


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xff", b"[a"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "s.yaml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ScriptFaults, match="s.yaml"):
        load_script(path)
