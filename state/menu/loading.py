"""Loads a menu from a YAML file."""

import hashlib
from pathlib import Path
from typing import Any

from pydantic.json_schema import models_json_schema

from state.documents.document import Entries, line_at, read_document, read_text
from state.documents.faults import DocumentFaults, Fault
from state.menu.form import MenuReading
from state.menu.menu import Menu


class MenuFaults(DocumentFaults):
    """The menu cannot be used: all its faults, in the order of the file."""


def load_menu(path: Path) -> Menu:
    """Read a menu from a file.

    Raises:
        MenuFaults: Everything that is wrong with it, each with file and line.
    """
    try:
        text = read_text(path)
    except DocumentFaults as wrong:
        raise MenuFaults(wrong.faults) from None
    return read_menu(text, str(path))


def read_menu(text: str, source: str) -> Menu:
    """Read a menu from a text; ``source`` is its name in faults.

    Raises:
        MenuFaults: Everything that is wrong with it, each with its line.
    """
    try:
        value, faults = read_document(text, source)
    except DocumentFaults as wrong:
        raise MenuFaults(wrong.faults) from None
    if not isinstance(value, Entries):
        message = "a menu has to be a mapping of keys to values"
        raise MenuFaults([*faults, Fault(source, line_at(value, ()), message)])
    menu = Menu.model_validate(value, context=MenuReading(source, faults))
    if faults:
        raise MenuFaults(faults)
    version = hashlib.sha256(menu.model_dump_json(exclude={"version"}).encode()).hexdigest()[:12]
    return menu.model_copy(update={"version": version})


def menu_schema() -> dict[str, Any]:
    """Return the JSON Schema of a menu file.

    Editors use it to complete and check a menu file. References between parts are checked only when the
    menu is read.
    """
    _, schema = models_json_schema(
        [(Menu, "validation")], ref_template="#/definitions/{model}", title="A menu"
    )
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/Menu",
        "title": "A menu",
        "definitions": {name: about for name, about in schema["$defs"].items() if name != "Span"},
    }
