"""What is compiled in the process that job processes are forked from is compiled in no call."""

import subprocess
import sys

_COMPILED_IN_A_CALL = """
import re, sys
from pathlib import Path
from bella_vista.local.understanding.understander import Understander
from state.menu import load_menu

if sys.argv[1:]:
    import bella_vista.local.preloaded
understander = Understander(load_menu(Path("tests/menus/kebab.yaml")))
compiled, compile = [], re.compile
re.compile = lambda *given: compiled.append(given) or compile(*given)
for line in ("hi there", "two large doner with garlic sauce and an ayran", "pickup for Sam please"):
    understander.understand(line)
print(len(compiled))
"""


def compiled_in_a_call(*preloaded: str) -> int:
    """Return how many patterns the first lines of a call compile in a new process."""
    command = [sys.executable, "-c", _COMPILED_IN_A_CALL, *preloaded]
    return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def test_the_first_lines_of_a_call_compile_next_to_nothing() -> None:
    assert compiled_in_a_call() > 100
    assert compiled_in_a_call("preloaded") < 10
