"""An agent's comments on changes that the user or staff make in a client; one comment per change.

``Said.about`` and ``Said.version`` identify the changes that a comment covers, whatever its wording. A
reply that is requested before the comment gets the instruction not to mention the change. An
interrupted comment is repeated.
"""

import logging
from collections.abc import Callable
from typing import Generic

from agents.app.parts import C, Changes, Comment, JsonObject, S
from agents.handoff.events import Said
from state.shared import Applied

logger = logging.getLogger(__name__)

MAX_TRIES = 3
"""How often a comment is tried if the user interrupts it each time."""

_HINT = (
    "The state has just been changed outside the conversation. Right after your reply the user is told"
    " this, so leave it to that: {words}"
)


class Comments(Generic[S, C]):
    """Collects changes, and makes one comment on all of them.

    Args:
        comment: Returns the application's comment on changes, or ``None`` for no comment. Without
            this function no change is commented on.
    """

    def __init__(
        self, context: C, comment: Callable[[Changes[S, C]], Comment | None] | None
    ) -> None:
        self._context = context
        self._comment = comment
        self._pending: list[Applied[S]] = []
        self._live: tuple[JsonObject, JsonObject] | None = None
        self._live_told: tuple[JsonObject, JsonObject] | None = None
        self._about: str | None = None
        self._tries = 0

    @property
    def waiting(self) -> bool:
        """Whether there is anything to comment on."""
        return bool(self._pending) or self._live is not None

    def add(self, applied: Applied[S]) -> None:
        """Add a change made outside the conversation."""
        if self._comment is not None:
            self._pending.append(applied)
            self._tries = 0

    def add_live(self, before: JsonObject, after: JsonObject) -> None:
        """Add a change of the live settings."""
        if self._comment is not None:
            self._live = (before if self._live is None else self._live[0], after)
            self._tries = 0

    def agent_said(self, said: Said) -> None:
        """Drop the changes that a comment covers, unless the user interrupted it."""
        if said.about is None or said.about != self._about or said.interrupted:
            return
        version = said.version or 0
        self._pending = [one for one in self._pending if one.version > version]
        if self._live is self._live_told:
            self._live = None

    def discard(self) -> None:
        """Drop the changes: the user has been told or shown the present state."""
        self._pending.clear()
        self._live = None

    def next(self, state: S) -> Comment | None:
        """Return the comment to speak now; its changes are dropped once it was spoken."""
        comment = self._comment_for(state) if self._tries < MAX_TRIES else None
        if comment is None:
            self.discard()
            return None
        self._tries += 1
        self._about, self._live_told = comment.about, self._live
        return comment

    def hint(self, state: S) -> str:
        """Return the instructions for a reply that is requested before the comment."""
        comment = self._comment_for(state)
        return _HINT.format(words=comment.words) if comment is not None else ""

    def _comment_for(self, state: S) -> Comment | None:
        if self._comment is None or not self.waiting:
            return None
        try:
            changes = Changes(tuple(self._pending), state, self._context, self._live)
            comment = self._comment(changes)
        except Exception:  # of any type: the call continues, and the client shows the change
            logger.exception("comment on changes failed")
            self.discard()
            return None
        return comment if comment is not None and comment.words else None
