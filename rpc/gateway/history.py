"""The views of a state's latest versions, and the patches between them."""

import json
import logging
from collections import OrderedDict
from collections.abc import Callable

from pydantic import JsonValue
from pydantic_core import to_json

from rpc.gateway.patches import patch_between
from rpc.gateway.request_log import fault_of

logger = logging.getLogger(__name__)

View = dict[str, JsonValue]
"""A state as clients see it."""


def compact(value: JsonValue) -> str:
    """Serialize compact JSON: no spaces, no needless escapes, ``null`` for NaN and infinity."""
    return to_json(value, inf_nan_mode="null").decode()


class Views:
    """Views of the latest versions as JSON text, and patches between them, each serialized once for all clients.

    Args:
        render: Returns the present version and its view.
        keep: How many versions are kept.
    """

    def __init__(self, render: Callable[[], tuple[int, View]], keep: int = 32) -> None:
        self._render = render
        self._keep = keep
        self._written: OrderedDict[int, str] = OrderedDict()
        self._present: tuple[int, View] = (-1, {})
        self._patches: dict[int, str] = {}
        self._outdated = True
        self.note()

    def note(self) -> None:
        """Add the present view. Call it after each change; a skipped version has no patch.

        If rendering fails, the error is logged, and each reader renders again and gets the exception.
        """
        self._outdated = True
        try:
            self._refresh()
        except Exception as error:
            fault = fault_of(error)
            logger.error("rendering the view failed: %s", fault["fault"], extra=fault)

    def _refresh(self) -> None:
        version, view = self._render()
        self._written[version] = compact(view)
        self._written.move_to_end(version)
        self._present, self._outdated = (version, view), False
        self._patches.clear()
        while len(self._written) > self._keep:
            self._written.popitem(last=False)

    def present(self) -> tuple[int, View]:
        """Return the latest version and its view, which must not be edited."""
        if self._outdated:
            self._refresh()
        return self._present

    def text(self) -> str:
        """Return the latest view as JSON text."""
        self.present()
        return self._written[self._present[0]]

    def since(self, version: int) -> str | None:
        """Return the patch from a version to the latest one as JSON text.

        ``None`` if that version is no longer kept or the patch would be longer than the view.
        """
        self.present()
        before = self._written.get(version)
        if before is None:
            return None
        patch = self._patches.get(version)
        if patch is None:
            patch = compact([*patch_between(json.loads(before), self._present[1])])
            self._patches[version] = patch
        return patch if len(patch) <= len(self.text()) else None
