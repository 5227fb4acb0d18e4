"""Finds the menu to serve: the one named or the own one, or its last valid copy."""

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.app.faults import InputError
from state.documents.document import Entries, Items, Text, Value, read_document, read_text
from state.documents.faults import Fault
from state.language.en.allergens import FAMILIES
from state.menu import Menu, MenuFaults, load_menu
from state.menu.families import families_named, families_of

OWN = Path(__file__).parent / "menu.yaml"

logger = logging.getLogger(__name__)

_GOOD = "_BELLA_VISTA_GOOD_MENU"
"""The environment variable with the path of the copy, for the worker's processes; not a setting."""


def menu_file(chosen: Path | None) -> Path:
    """Return the menu's file: the chosen one, or Bella Vista's own."""
    return OWN if chosen is None else chosen


def read_menu(file: Path) -> Menu:
    """Read a menu.

    Raises:
        InputError: Everything that is wrong with it, each with file and line.
    """
    try:
        return load_menu(file)
    except MenuFaults as wrong:
        raise InputError(map(str, wrong.faults)) from wrong


def unknown_allergens(file: Path) -> list[Fault]:
    """Return a warning for each allergen of a valid menu that no family has a word for."""
    document, _ = read_document(read_text(file), str(file))
    parts = document if isinstance(document, Entries) else {}
    stated = [*_allergens_in(parts.get("options")), *_allergens_in(parts.get("sections"))]
    return [
        Fault(
            str(file),
            word.line,
            f'warning: no family of allergens has "{word}", so only a guest who names it is told of it'
            f" - {_nearest_family(word)}",
        )
        for word in stated
        if word.strip() and not families_named([word])
    ]


def _allergens_in(value: Value) -> Iterator[Text]:
    """Return what is written under each key ``allergens``."""
    if isinstance(value, Items):
        for one in value:
            yield from _allergens_in(one)
    elif isinstance(value, Entries):
        for key, one in value.items():
            if key != "allergens":
                yield from _allergens_in(one)
            elif isinstance(one, Text):
                yield one
            elif isinstance(one, Items):
                yield from (word for word in one if isinstance(word, Text))


def _nearest_family(word: str) -> str:
    if meant := families_of(word):  # unlike the menu's words, a guest's may have slips
        return f'did you mean "{meant[0]}"?'
    return f"the families are {', '.join(FAMILIES)}"


@contextmanager
def keep_menu_copy(chosen: Path | None) -> Iterator[None]:
    """Keep a copy of a checked menu, for processes started meanwhile that find its file broken."""
    with ExitStack() as kept:
        try:
            folder = kept.enter_context(TemporaryDirectory(prefix="bella-vista-"))
            copy = Path(folder) / "menu.yaml"
            copy.write_bytes(menu_file(chosen).read_bytes())
        except OSError as error:  # the disk is full or read-only
            logger.warning("backup copy of the menu not written", extra={"error": error})
        else:
            os.environ[_GOOD] = str(copy)
            kept.callback(os.environ.pop, _GOOD)
        yield


def served_menu(chosen: Path | None) -> Menu:
    """Read the menu, or its last valid copy if the file is broken, so that calls can go on.

    Raises:
        InputError: Everything that is wrong with it, if there is no copy.
    """
    try:
        return read_menu(menu_file(chosen))
    except InputError as wrong:
        copy = os.environ.get(_GOOD)
        if copy is None:
            raise
        logger.error("menu invalid, serving the last valid one: %s", "; ".join(wrong.faults))
        return load_menu(Path(copy))
