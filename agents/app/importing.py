"""How modules are imported: late, with the garbage collector paused, and which ones are the framework's."""

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
    """Import within this context what a process needs from its start to its end.

    Of the quarter of a million objects that livekit-agents 1.8.9 imports one in a hundred is
    garbage. Collecting during the import would be a sixth of a console's start-up time, and
    scanning these objects later would pause a conversation for a tenth of a second. So they are
    frozen: the collector never looks at them.
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
    """Import what a path names.

    >>> loaded("json:dumps")([1])
    '[1]'
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def later(path: str) -> Callable[..., Any]:
    """Return a function that imports another one when it is called, and calls it."""
    return partial(_call, path)


def is_installed(module: str) -> bool:
    """Whether there is a module of this name; it is not imported, but its packages are."""
    try:
        return find_spec(module) is not None
    except ImportError:  # its package is missing
        return False


def missing_extra(extra: str, plugins: Iterable[str]) -> str | None:
    """Return what to install if one of livekit's plugins is missing; ``None`` if all are there.

    Args:
        extra: The extra of the wheel that has them.
        plugins: The plugins, as ``openai``.
    """
    modules = {f"livekit.plugins.{name}": f"livekit-plugins-{name}" for name in plugins}
    return missing_modules(extra, modules)


def missing_modules(extra: str, modules: Mapping[str, str]) -> str | None:
    """Return what to install if a module is missing; ``None`` if all are there.

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
