"""The lines of an order as things that can be spoken of; a combo with what was chosen for it."""

import re

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.meaning import LineSeen
from bella_vista.local.understanding.menu.kitchen import Kitchen

_SHOWN = re.compile(r"(?P<named>[^(]+?)(?: \((?P<changes>.*)\))?")
"""A part as the order shows it: its size and name, and in brackets how it is made."""


def on_order(line: LineSeen, kitchen: Kitchen) -> Item:
    """Take a line of the order as a thing that can be spoken of; a combo with what was chosen for it."""
    item = Item.of_line(line)
    if kitchen.combo(line.name) is not None:
        parts = [_part(shown, line.name, kitchen) for shown in line.parts]
        item.parts = [part for part in parts if part is not None]
    return item


def _part(shown: str, combo: str, kitchen: Kitchen) -> Item | None:
    found = _SHOWN.fullmatch(shown)
    had = kitchen.combo(combo)
    if found is None or had is None:
        return None
    dishes = [name for part in had.parts for name in part.dishes if found["named"].endswith(name)]
    if not dishes:
        return None
    name = max(dishes, key=len)
    changes = found["changes"].split(", ") if found["changes"] else []
    return Item(
        words=name,
        names=(name,),
        size=found["named"].removesuffix(name).strip() or None,
        changes=changes,
        yielding=len(changes),
    )
