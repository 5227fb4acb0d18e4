"""Several writers, cancelled at any moment, over one order: in memory, on disk, and after a restart.

Hypothesis plays the scheduler. Each of its moves is a small one - somebody begins to write, the loop
turns a round, the disk answers, somebody is cancelled, the order is taken anew, time passes - so that
writes overlap in every way, and what fails is shrunk to the fewest moves. A state machine rather than a
seeded driver, because it shrinks by itself.
"""

from pathlib import Path

from hypothesis.stateful import run_state_machine_as_test

from tests.state.properties.desks import at_once
from tests.state.properties.effort import tried
from tests.state.properties.writers import InMemory, OnDisk


def test_no_moves_break_an_order_on_disk(tmp_path: Path) -> None:
    machine = OnDisk.over(tmp_path / "orders.db")
    try:
        run_state_machine_as_test(machine, settings=tried(35, steps=50))
    finally:
        for store in machine.stores:
            at_once(store.close())


def test_no_moves_break_an_order_in_memory() -> None:
    run_state_machine_as_test(InMemory, settings=tried(50, steps=50))
