import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from agents.app.importing import gc_paused


@pytest.fixture(autouse=True)
def collected_again() -> Iterator[None]:
    yield
    gc.enable()
    gc.unfreeze()


def test_the_collector_rests_while_something_is_imported_and_is_as_before_afterwards() -> None:
    with gc_paused():
        assert not gc.isenabled()

    assert gc.isenabled()

    gc.disable()
    with gc_paused():
        pass

    assert not gc.isenabled()


def test_the_collector_works_again_when_something_cannot_be_imported() -> None:
    with pytest.raises(ImportError), gc_paused():
        raise ImportError("there is no such module")

    assert gc.isenabled()


def test_what_was_imported_is_not_looked_at_again() -> None:
    with gc_paused():
        kept: list[object] = [[]]

    assert not any(one is kept for one in gc.get_objects())


@pytest.mark.usefixtures("clean_folder")
@pytest.mark.processes
def test_a_guest_in_a_terminal_never_waits_for_the_collector_to_look_at_livekit() -> None:
    program = (
        "import gc, sys\n"
        "from tests.commands import main\n"
        "try: main(['console', '--events'])\n"
        "except SystemExit: pass\n"
        "print(gc.isenabled(), gc.get_freeze_count(), file=sys.stderr)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )

    enabled, frozen = done.stderr.splitlines()[-1].split()
    assert enabled == "True"
    assert int(frozen) > 100_000
