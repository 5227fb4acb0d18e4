import subprocess
import sys

import pytest

import state
from state import open_order
from state.commands import ORDER_COMMANDS, AddItem
from state.order import OrderState


def test_what_an_application_needs_is_imported_from_the_package() -> None:
    assert state.OrderState is OrderState
    assert open_order.__module__ == "state.opening"
    assert (state.AddItem, state.ORDER_COMMANDS) == (AddItem, ORDER_COMMANDS)


@pytest.mark.parametrize("name", ["Nothing", "errors_of", "_HOME"])
def test_a_name_that_is_nowhere_is_an_error(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(state, name)


@pytest.mark.processes
def test_the_shared_state_is_imported_without_the_restaurant() -> None:
    program = (
        "import sys, state.shared; print([n for n in sys.modules if n.startswith('state.menu')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
