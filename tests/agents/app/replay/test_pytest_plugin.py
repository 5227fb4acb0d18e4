"""The pytest plugin, in a stranger's repository with an application of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[4]
SHOP = """
from tests.agents.app.test_declaration import declared
from agents.testing import ScriptedLLM, says

APP = declared(model=lambda context, settings: ScriptedLLM([says("Which book?"), says("Yours.")]))
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    for name, said in (
        ("conversations/holds.yaml", "yours"),
        ("conversations/fails.yaml", "mine"),
        ("evenings/late.yaml", "yours"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"turns:\n- user: Emma\n  said: {said}\n")
    (tmp_path / "conversations" / "notes.txt").write_text("none")
    return tmp_path


def checked(folder: Path, line: str, *options: str, **environment: str) -> tuple[int, str]:
    (folder / "pytest.ini").write_text(
        f"[pytest]\n{line}\npythonpath = .\nfilterwarnings = error\n"
        "asyncio_default_fixture_loop_scope = function\n"
    )
    plugin = ("-p", "agents.app.replay.pytest_plugin")  # an installed framework needs no option
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, "-v", *options],
        cwd=folder,
        env={
            **{"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)},
            **environment,
        },
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_one_line_makes_each_file_a_test_that_fails_as_replay_does(shop: Path) -> None:
    code, out = checked(
        shop, "app = shop:APP", LIBRARY_MODEL="openai", LIBRARY_AT="2020-01-01T12:00"
    )

    assert code == 1
    assert "conversations/holds.yaml::holds PASSED" in out
    assert "conversations/fails.yaml::fails FAILED" in out
    assert "1 failed, 1 passed" in out
    assert (
        'conversations/fails.yaml:2: turn 1 of 1 ("Emma")\n'
        '  said: expected "mine", no agent said it\n'
        "  what happened:\n"
        "    clerk: Yours.\n"
    ) in out
    assert "Traceback" not in out


def test_a_file_with_mistakes_fails_with_all_of_them(shop: Path) -> None:
    (shop / "conversations" / "fails.yaml").write_text("turn: []\nend: 3\n")

    code, out = checked(shop, "app = shop:APP", "-k", "fails")

    assert code == 1
    assert 'conversations/fails.yaml:1: a conversation needs "turns"' in out
    assert "conversations/fails.yaml:2: end: " in out


def test_a_folder_can_be_named(shop: Path) -> None:
    code, out = checked(shop, "app = shop:APP evenings")

    assert code == 0
    assert "evenings/late.yaml::late PASSED" in out
    assert "1 passed" in out


def test_an_application_that_is_not_on_the_path_is_named_with_the_remedy(shop: Path) -> None:
    code, out = checked(shop, "app = shoop:APP", "-k", "holds")

    assert code == 1
    assert "app: there is no module shoop: set pythonpath in pytest's configuration" in out
    assert "import_module" not in out


def test_without_the_line_nothing_is_collected(shop: Path) -> None:
    code, out = checked(shop, "")

    assert code == 5
    assert "collected 0 items" in out


@pytest.mark.parametrize("line", ["shop", "shop:APP nowhere"])
def test_a_wrong_line_is_told(shop: Path, line: str) -> None:
    code, out = checked(shop, f"app = {line}")

    assert code == 4
    assert "ERROR: app: " in out
