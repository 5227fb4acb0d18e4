"""Without a tool that a test needs the test is skipped; with ``CI=true`` it fails."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.app import testing
from agents.app.testing import livekit_program
from tests import postgres
from tests.clients import toolchain
from tests.sounds import speech_program
from tests.wheel import test_wheel
from tests.wheel.test_wheel import uv_program

ROOT = Path(__file__).parents[1]
NEEDED = (
    livekit_program,
    uv_program,
    postgres._programs,
    toolchain.node_program,
    toolchain.chromium_program,
    speech_program,
)
SKIPS = ("pytest.skip", "skipif(", "importorskip(")


@pytest.fixture
def without_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tool is built here or on the path."""
    monkeypatch.setattr(testing, "find_program", lambda: None)
    monkeypatch.setattr(test_wheel, "ROOT", tmp_path)
    monkeypatch.setattr(postgres, "find_spec", lambda name: None)
    monkeypatch.setattr(toolchain, "TOOLS", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: None)


@pytest.mark.usefixtures("without_tools")
@pytest.mark.parametrize("tool", NEEDED)
@pytest.mark.parametrize(("ci", "outcome"), [("true", "Failed"), ("", "Skipped")])
def test_a_missing_tool_fails_in_ci_and_skips_elsewhere(
    tool: Callable[[], object], ci: str, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", ci)

    with pytest.raises((pytest.fail.Exception, pytest.skip.Exception)) as raised:
        tool()

    assert raised.type.__name__ == outcome


def test_nothing_else_is_skipped() -> None:
    own = Path(__file__)
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "examples").rglob("*.py")]
    files += [ROOT / "agents/app/testing.py"]
    found = {
        str(file.relative_to(ROOT))
        for file in files
        if file != own and any(one in file.read_text() for one in SKIPS)
    }

    assert found == {
        "agents/app/testing.py",
        "tests/benchmarks/commits.py",  # says that it measures no PostgreSQL
        "tests/benchmarks/pages.py",  # says that it measures no page; its own test demands the tools
        "tests/missing.py",
    }
