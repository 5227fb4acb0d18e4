"""How long a store waits for its database in the tests; also for processes of their own, which import no more."""

from collections.abc import Callable

from state.shared.sql import dialects, thread

LONG_S = 60.0
"""How long a lock, a statement or an answer may take on a busy machine, in seconds."""


def be_patient(set_limit: Callable[[object, str, float], None] = setattr) -> None:
    """Let a store wait for the database as long as a busy machine may need.

    Args:
        set_limit: Sets one limit of a module; a test gives ``monkeypatch.setattr``.
    """
    for module, limit in (
        *((dialects, name) for name in ("BUSY_S", "STATEMENT_S")),
        *((thread, name) for name in ("WAIT_S", "ANSWER_S")),
    ):
        set_limit(module, limit, LONG_S)
