"""What a state looked like from outside at its last versions, so that who saw one is told only the difference."""

import json
from collections import OrderedDict
from collections.abc import Callable

from pydantic import JsonValue

from rpc.gateway.patches import Operation, patch_between

View = dict[str, JsonValue]
"""A state as everybody outside sees it."""


def compact(value: JsonValue) -> str:
    """Write JSON as it goes over the wire: no spaces, nothing escaped that need not be."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class Views:
    """The views of the last versions, as JSON text, and what lies between them.

    Args:
        render: Gives the present version and the view of it.
        keep: How many versions are remembered.
    """

    def __init__(self, render: Callable[[], tuple[int, View]], keep: int = 32) -> None:
        self._render = render
        self._keep = keep
        self._written: OrderedDict[int, str] = OrderedDict()
        self._present: tuple[int, View] = (-1, {})
        self.note()

    def note(self) -> None:
        """Take in the present view. Call it after each change; a version that was missed has no patch."""
        version, view = self._present = self._render()
        self._written[version] = compact(view)
        self._written.move_to_end(version)
        while len(self._written) > self._keep:
            self._written.popitem(last=False)

    def present(self) -> tuple[int, View]:
        """Return the version that was taken in last, and its view; nobody may edit it."""
        return self._present

    def since(self, version: int) -> list[Operation] | None:
        """Return the patch from a version's view to the present one; ``None`` when that is not known.

        A patch that would be longer than the view replaces it as a whole, by one step with an empty path.
        """
        before = self._written.get(version)
        if before is None:
            return None
        present, view = self._present
        if version == present:
            return []
        patch = patch_between(json.loads(before), view)
        if len(compact([*patch])) > len(self._written[present]):
            return [{"op": "replace", "path": "", "value": view}]
        return patch
