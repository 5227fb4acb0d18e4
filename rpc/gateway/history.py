"""What a state looked like from outside at its last versions, so that who saw one is told only the difference."""

import json
from collections import OrderedDict
from collections.abc import Callable

from pydantic import JsonValue
from pydantic_core import to_json

from rpc.gateway.patches import patch_between

View = dict[str, JsonValue]
"""A state as everybody outside sees it."""


def compact(value: JsonValue) -> str:
    """Write JSON as it goes over the wire: no spaces, nothing escaped that need not be, null for what is no number."""
    return to_json(value, inf_nan_mode="null").decode()


class Views:
    """The views of the last versions, as JSON text, and what lies between them, each written once for all who ask.

    Args:
        render: Gives the present version and the view of it.
        keep: How many versions are remembered.
    """

    def __init__(self, render: Callable[[], tuple[int, View]], keep: int = 32) -> None:
        self._render = render
        self._keep = keep
        self._written: OrderedDict[int, str] = OrderedDict()
        self._present: tuple[int, View] = (-1, {})
        self._patches: dict[int, str] = {}
        self.note()

    def note(self) -> None:
        """Take in the present view. Call it after each change; a version that was missed has no patch."""
        version, view = self._present = self._render()
        self._patches.clear()
        self._written[version] = compact(view)
        self._written.move_to_end(version)
        while len(self._written) > self._keep:
            self._written.popitem(last=False)

    def present(self) -> tuple[int, View]:
        """Return the version that was taken in last, and its view; nobody may edit it."""
        return self._present

    def text(self) -> str:
        """Return the view that was taken in last, as JSON text."""
        return self._written[self._present[0]]

    def since(self, version: int) -> str | None:
        """Return the patch from a version's view to the present one, as JSON text.

        ``None`` when that version's view is not known any more, or the patch would be longer than the view.
        """
        before = self._written.get(version)
        if before is None:
            return None
        patch = self._patches.get(version)
        if patch is None:
            patch = compact([*patch_between(json.loads(before), self._present[1])])
            self._patches[version] = patch
        return patch if len(patch) <= len(self.text()) else None
