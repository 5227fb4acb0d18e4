"""What type checkers tell the one who builds on the framework."""

import re
from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
SETTINGS = (
    *("--config-file", str(ROOT / "pyproject.toml")),
    *("--cache-dir", str(ROOT / ".mypy_cache")),
    *("--no-error-summary", "--hide-error-context", "--no-pretty"),
)
SILENCED = re.compile(r"\s*# type: ignore\[([\w, -]+)\]")
FOUND = re.compile(r":(\d+): error: .*\[([\w-]+)\]$", re.M)


@pytest.mark.timeout(600)  # without a cache, on a busy machine
def test_mypy_knows_the_types_and_finds_every_mistake(tmp_path: Path) -> None:
    lines = (HERE / "readers_mistakes.py").read_text(encoding="utf-8").splitlines()
    expected = {
        (number, code)
        for number, line in enumerate(lines, 1)
        for silenced in SILENCED.findall(line)
        for code in silenced.split(", ")
    }
    mistakes = tmp_path / "mistakes.py"
    mistakes.write_text("\n".join(SILENCED.sub("", line) for line in lines), encoding="utf-8")

    said, trouble, _ = api.run([*SETTINGS, str(HERE / "readers_code.py"), str(mistakes)])

    assert trouble == ""
    assert "readers_code.py" not in said, said
    assert {(int(line), code) for line, code in FOUND.findall(said)} == expected
    assert len(expected) >= 20
