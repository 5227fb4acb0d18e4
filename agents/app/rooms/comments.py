"""An agent's comments on changes that the user makes in a client: each change is spoken to once.

``Said.about`` and ``Said.version`` tell which changes a comment has spoken to. No wording counts: a
reply that is requested meanwhile leaves the change to the comment, and its model is told so. A
comment that was interrupted is said again.
"""

import logging
from collections.abc import Callable
from typing import Generic

from agents.app.parts import C, Changes, Comment, S
from agents.handoff.events import Said
from state.shared import Applied

logger = logging.getLogger(__name__)

MAX_TRIES = 3
"""How often a comment is begun that the user interrupts each time."""

_LEAVE_IT = (
    "The user has just changed something on their own page. Right after your reply they are told this,"
    " so leave it to that: {words}"
)


class Comments(Generic[S, C]):
    """Collects the changes that have not been spoken to, and words a comment on all of them.

    Args:
        comment: The application's words for changes; it returns ``None`` if there is nothing to say.
            Without it no change is commented on.
    """

    def __init__(
        self, context: C, comment: Callable[[Changes[S, C]], Comment | None] | None
    ) -> None:
        self._context = context
        self._comment = comment
        self._unspoken: list[Applied[S]] = []
        self._about: str | None = None
        self._tries = 0

    @property
    def waiting(self) -> bool:
        """Whether there is anything to comment on."""
        return bool(self._unspoken)

    def add(self, applied: Applied[S]) -> None:
        """Add a change that the user made in a client."""
        if self._comment is not None:
            self._unspoken.append(applied)
            self._tries = 0

    def agent_said(self, said: Said) -> None:
        """Drop the changes that a comment has spoken to, unless the user cut it short."""
        if said.about is None or said.about != self._about or said.interrupted:
            return
        version = said.version or 0
        self._unspoken = [one for one in self._unspoken if one.version > version]

    def discard(self) -> None:
        """Drop the changes: the user has been told or shown the present state."""
        self._unspoken.clear()

    def next(self, state: S) -> Comment | None:
        """Return what is to be said now; the changes are dropped once it has been said."""
        comment = self._made(state) if self._tries < MAX_TRIES else None
        if comment is None:
            self.discard()
            return None
        self._tries += 1
        self._about = comment.about
        return comment

    def hint(self, state: S) -> str:
        """Return the instructions for a reply that is requested before a comment could be made."""
        comment = self._made(state)
        return _LEAVE_IT.format(words=comment.words) if comment is not None else ""

    def _made(self, state: S) -> Comment | None:
        if self._comment is None or not self._unspoken:
            return None
        try:
            comment = self._comment(Changes(tuple(self._unspoken), state, self._context))
        except Exception:  # the call goes on, and the client shows what was changed
            logger.exception("comment on changes failed")
            self.discard()
            return None
        return comment if comment is not None and comment.words else None
