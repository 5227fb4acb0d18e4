"""The order of a restaurant and its rules: pure functions, without a conversation.

``from state import OrderState`` works for all that an application needs. Names are imported on first
access (PEP 562), so that importing ``state.shared`` loads no module of the restaurant.
"""

from importlib import import_module
from typing import Any

_HOMES = (
    "state.order",
    "state.commands",
    "state.context",
    "state.errors",
    "state.menu",
    "state.opening",
    "state.pricing",
    "state.money",
    "state.stages",
    "state.view",
    "state.privacy.redaction",
)
_FUNCTIONS = frozenset(
    "load_menu needs open_order price read_menu redact shown spoken summary".split()
)


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS or name[0].isupper():
        for home in _HOMES:
            if (found := getattr(import_module(home), name, None)) is not None:
                globals()[name] = found
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
