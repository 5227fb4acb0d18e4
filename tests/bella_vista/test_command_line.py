import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bella_vista.small_restaurant import MENU
from tests.commands import main

CONVERSATIONS = Path(__file__).parents[1] / "conversations"


pytestmark = pytest.mark.usefixtures("clean_folder", "logs_as_before")


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert isinstance(left.value.code, int)
    return left.value.code


def out(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["console", "--help"],
        ["understand", "--help"],
        ["menu", "--help"],
        ["menu", "check", "--help"],
        ["graph", "--help"],
        ["schema", "--help"],
        ["replay", "--help"],
    ],
)
def test_every_command_has_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == 0
    assert "Usage:" in out(capsys)


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["console", "--nonsense"],
        ["console", "--at", "supper time"],
        ["console", "--model", "openai"],
        ["console", "--menu", "no-such-file.yaml"],
        ["console", "--model", "script:no-such-file.yaml"],
        ["menu", "check"],
        ["menu", "check", "no-such-file.yaml"],
        ["graph", "--format", "crayon"],
        ["schema", "nonsense"],
        ["replay"],
        ["replay", "no-such-file.yaml"],
        ["understand", "--menu", "no-such-file.yaml"],
    ],
)
def test_wrong_use_is_told_and_ends_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2

    told = capsys.readouterr()
    assert told.err
    assert "Traceback" not in told.err
    assert told.out == ""


def test_a_provider_without_a_key_is_told_what_to_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("console", "--model", "openai") == 2

    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("OPENAI_API_KEY: is not set: ")
    assert "OPENAI_BASE_URL" in told


def test_a_sound_menu_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("menu", "check", str(MENU)) == 0
    assert out(capsys).endswith("4 sections, 8 dishes, 1 combo: nothing is wrong\n")


def test_an_allergen_of_no_family_is_a_warning_with_the_nearest_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MENU.read_text().replace(
        "allergens: [gluten, milk]", "allergens: [dairy products, gluton, zzz]"
    )
    (tmp_path / "house.yaml").write_text(text)
    line = 1 + text[: text.index("gluton")].count("\n")

    assert run("menu", "check", "house.yaml") == 0

    told = capsys.readouterr()
    assert told.out.endswith(": no faults, 2 warnings\n")
    first, second = told.err.splitlines()
    assert first.startswith(f'house.yaml:{line}: warning: no family of allergens has "gluton"')
    assert first.endswith('did you mean "gluten"?')
    assert '"zzz"' in second
    assert "the families are gluten, shellfish," in second


def test_every_fault_of_a_menu_has_its_own_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MENU.read_text().replace('"6.50"', "-1").replace("available: false", "avialable: false")
    (tmp_path / "broken.yaml").write_text(text)

    assert run("menu", "check", "broken.yaml") == 2

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("broken.yaml:") for line in lines)


def test_a_broken_menu_stops_every_command_that_needs_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.yaml").write_text("restaurant: []\n")

    for command in ("console", "understand"):
        assert run(command, "--menu", "broken.yaml") == 2
        assert capsys.readouterr().err.startswith("broken.yaml:1: ")


def test_the_graph_can_be_drawn_in_three_ways(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("graph") == 0
    assert out(capsys).startswith("flowchart")

    assert run("graph", "--format", "dot") == 0
    assert out(capsys).startswith("digraph")

    assert run("graph", "--format", "text") == 0
    assert out(capsys).startswith("Greeter")


def test_schemas_are_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("schema") == 0
    assert out(capsys).split() == ["menu", "rpc", "conversation"]

    for name in ("menu", "rpc", "conversation"):
        assert run("schema", name) == 0
        assert "$schema" in json.loads(out(capsys))


@pytest.mark.parametrize(
    "arguments", [["--help"], ["menu", "check", str(MENU)], ["schema", "menu"]]
)
@pytest.mark.processes
def test_commands_without_a_call_do_not_import_livekit(arguments: list[str]) -> None:
    program = (
        "import sys\nfrom tests.commands import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        "sys.exit('livekit' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True)

    assert done.returncode == 0


def test_the_console_shows_and_says_what_an_allergy_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "typed").write_text("a fried calamari\nI am allergic to prawns\n")
    with (tmp_path / "typed").open() as lines:
        monkeypatch.setattr("sys.stdin", lines)
        at = "2026-11-20T19:00"
        assert run("console", "--events", "--at", at, "--database", f"sqlite:///{tmp_path}/o") == 0

    events = [json.loads(line) for line in out(capsys).splitlines()]
    views = [one["state"] for one in events if one["type"] == "state"]
    assert views[-1]["allergies"] == ["prawns"]
    assert [line["allergens_met"] for line in views[-1]["order_items"]] == [["shellfish"]]
    said = [one["text"] for one in events if one["type"] == "said"][-1]
    assert "Careful: the menu lists shellfish for the Fried calamari" in said
    assert "cannot promise" in said


@pytest.mark.parametrize("command", ["console", "replay"])
def test_the_help_names_every_model(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command, "--help") == 0

    told = out(capsys)
    for model in ("local", "openai", "script:FILE"):
        assert model in told
