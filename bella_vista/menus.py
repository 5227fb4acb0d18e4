"""Which menu is served: the one that is named, Bella Vista's own otherwise, and the last good one if it is broken."""

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from state.menu import Menu, MenuFaults, load_menu

OWN = Path(__file__).parent / "menu.yaml"

logger = logging.getLogger(__name__)

_GOOD = "_BELLA_VISTA_GOOD_MENU"
"""Where the processes that a worker starts find the copy it keeps; no setting of anybody's."""


def menu_file(chosen: Path | None) -> Path:
    """Return the file of the chosen menu, or of Bella Vista's own."""
    return OWN if chosen is None else chosen


@contextmanager
def good_menu_kept(chosen: Path | None) -> Iterator[None]:
    """Keep a copy of a menu that has been checked, for processes started meanwhile that find its file broken.

    Args:
        chosen: The menu's file.
    """
    with ExitStack() as kept:
        try:
            folder = kept.enter_context(TemporaryDirectory(prefix="bella-vista-"))
            copy = Path(folder) / "menu.yaml"
            copy.write_bytes(menu_file(chosen).read_bytes())
        except OSError as error:  # a full disk, or none that can be written
            logger.warning("no copy of the menu is kept", extra={"error": error})
        else:
            os.environ[_GOOD] = str(copy)
            kept.callback(os.environ.pop, _GOOD)
        yield


def served_menu(chosen: Path | None) -> Menu:
    """Read the menu, or the copy that is kept of it: a slip of the pen in the file leaves no guest unanswered.

    Raises:
        MenuFaults: Everything that is wrong with it, and there is no good copy.
    """
    try:
        return load_menu(menu_file(chosen))
    except MenuFaults as wrong:
        copy = os.environ.get(_GOOD)
        logger.error(
            "the menu is broken%s: %s",
            "" if copy is None else ", the one from before is served",
            "; ".join(map(str, wrong.faults)),
        )
        if copy is None:
            raise
        return load_menu(Path(copy))
