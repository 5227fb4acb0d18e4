"""Imports: late ones, with the garbage collector paused, and checks whether modules are installed."""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

FRAMEWORK = frozenset(
    name.partition(".")[0] for name in ("agents.app", "agents.handoff", "rpc.page", "state.shared")
)
"""The top-level packages of the framework; in the wheel it is one."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection during imports, and exclude the imported objects from later collections.

    livekit-agents 1.8.9 imports a quarter of a million objects, of which one in a hundred is garbage.
    Collecting during the import would take a sixth of a console's start-up time. Scanning the objects
    later would pause a conversation for a tenth of a second.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()


def loaded(path: str) -> Any:
    """Import the object that a path names.

    >>> loaded("json:dumps")([1])
    '[1]'
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def later(path: str) -> Callable[..., Any]:
    """Return a function that imports another one at its first call, and calls it."""
    return partial(_call, path)


def is_installed(module: str) -> bool:
    """Whether a module can be imported; its parent packages are imported, the module is not."""
    try:
        return find_spec(module) is not None
    except ImportError:  # its package is missing
        return False


def missing_extra(extra: str, plugins: Iterable[str]) -> str | None:
    """Return how to install missing LiveKit plugins; ``None`` if all are installed.

    Args:
        extra: The extra of the wheel that has them.
        plugins: The plugins, such as ``openai``.
    """
    modules = {f"livekit.plugins.{name}": f"livekit-plugins-{name}" for name in plugins}
    return missing_modules(extra, modules)


def missing_modules(extra: str, modules: Mapping[str, str]) -> str | None:
    """Return how to install missing modules; ``None`` if all are installed.

    Args:
        extra: The extra of the wheel that has them.
        modules: The names of their distributions, by module.
    """
    missing = [distribution for module, distribution in modules.items() if not is_installed(module)]
    if not missing:
        return None
    names = ", ".join(missing)
    return f"{names}: not installed: python -m pip install 'typed-handoffs[{extra}]'"


def _call(path: str, *arguments: Any) -> Any:
    return loaded(path)(*arguments)
