"""The state known to a unit of work when it started: the defaults for every change it makes."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from state.shared.errors import StateError

_BASIS: ContextVar["Basis | None"] = ContextVar("basis", default=None)


class Basis:
    """The state of a ``SharedState`` that a unit of work, such as an agent's tool, knew when it started.

    Within ``with basis:``, and in tasks started there, ``SharedState.apply`` takes ``seen`` and ``turn`` from here
    if it is given neither. So work that reads, waits and writes cannot overwrite another writer's update.

    Args:
        seen: The version the work is based on; ``None`` checks no version.
        turn: The last user turn it acts on; ``None`` for none.
        own: Versions that do not count as conflicts; the work's own writes are added.
    """

    def __init__(self, seen: int | None, turn: int | None, own: set[int] | None = None) -> None:
        self.seen = seen
        self.turn = turn
        self.own: set[int] = set() if own is None else own
        self.waited_s = 0.0
        """How long it has waited for its changes to be applied, in seconds."""
        self._ended: StateError | None = None
        self._over = False
        self._since: list[float] = []

    @staticmethod
    def present() -> "Basis | None":
        """Return the basis of the current work; ``None`` once that work has ended."""
        basis = _BASIS.get()
        return None if basis is None or basis._over else basis

    @property
    def writing(self) -> bool:
        """Whether one of its changes is being applied."""
        return bool(self._since)

    def check(self) -> None:
        """Refuse abandoned work.

        Raises:
            StateError: The error given to ``give_up``.
        """
        if self._ended is not None:
            raise self._ended

    def give_up(self, error: StateError) -> None:
        """Abandon this work: from now on its changes raise ``error``, however late they come."""
        self._ended = error

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time within as waiting."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        self._since.append(began)
        try:
            yield
        finally:
            self._since.remove(began)
            if not self._since:
                self.waited_s += loop.time() - began

    def __enter__(self) -> "Basis":
        self._token = _BASIS.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        _BASIS.reset(self._token)

    def end(self) -> None:
        """End the work: the changes its tasks make from now on no longer use this basis."""
        self._over = True
