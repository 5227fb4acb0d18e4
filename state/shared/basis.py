"""What a piece of work knew when it began: the default for every change it makes."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from state.shared.errors import StateError

_BASIS: ContextVar["Basis | None"] = ContextVar("basis", default=None)


class Basis:
    """What was known of one shared state when a piece of work began, such as a tool of an agent.

    Within ``with basis:``, and in the tasks that are started there, ``SharedState.apply`` takes ``seen`` and
    ``turn`` from here when it is given neither. So work that reads, waits and writes loses nobody's update.

    Args:
        seen: The version the work was decided on; ``None`` checks no version.
        turn: The last turn whose words it acts on; ``None`` for none.
        own: Versions that are no surprise to it; those it writes itself are added.
    """

    def __init__(self, seen: int | None, turn: int | None, own: set[int] | None = None) -> None:
        self.seen = seen
        self.turn = turn
        self.own: set[int] = set() if own is None else own
        self.waited_s = 0.0
        """For how long it has waited for its changes to be made, in seconds."""
        self._ended: StateError | None = None
        self._over = False
        self._since: list[float] = []

    @staticmethod
    def present() -> "Basis | None":
        """Return the basis of the work that is done here; ``None`` once that has ended."""
        basis = _BASIS.get()
        return None if basis is None or basis._over else basis

    @property
    def writing(self) -> bool:
        """Whether a change of it is on its way."""
        return bool(self._since)

    def check(self) -> None:
        """Refuse work that was given up.

        Raises:
            StateError: It was.
        """
        if self._ended is not None:
            raise self._ended

    def give_up(self, error: StateError) -> None:
        """Let nothing more be changed by this work, however late it asks: ``error`` is raised instead."""
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
        """The work has ended: what its tasks do from now on is their own."""
        self._over = True
