"""The recording of one call in a room, which its user may refuse at any time."""

import asyncio
import logging
from collections.abc import Callable

from agents.app.recordings import CallRecorder, Recordings

logger = logging.getLogger(__name__)


class RoomRecording:
    """Records a call until it ends, or its user refuses.

    Args:
        recorder: Records it; ``None`` if it is not recorded.
        kept: The recordings of the application's calls, where calls are recorded.
        state_id: The state that the call is about.
        refused: Called when the user has refused.
    """

    def __init__(
        self,
        recorder: CallRecorder | None,
        kept: Recordings | None,
        state_id: str,
        refused: Callable[[], None],
    ) -> None:
        self.recorder = recorder
        self._kept = kept
        self._state_id = state_id
        self._refused = refused
        self._deleting: asyncio.Task[None] | None = None

    @property
    def active(self) -> bool:
        """Whether the call is recorded."""
        return self.recorder is not None

    def announced(self) -> None:
        """The user has been told that the call is recorded."""
        if self.recorder is not None:
            self.recorder.announced()

    def refuse(self) -> None:
        """Record no longer, and delete the recordings of calls about this state."""
        recorder, self.recorder = self.recorder, None
        if recorder is not None:
            self._refused()
            self._deleting = asyncio.create_task(self._delete(recorder))

    async def aclose(self) -> None:
        """Write or delete what was recorded."""
        if self.recorder is not None:
            await self.recorder.aclose()
        if self._deleting is not None:
            await asyncio.wait((self._deleting,))

    async def _delete(self, recorder: CallRecorder) -> None:
        await recorder.delete()
        try:
            if self._kept is not None:
                await asyncio.to_thread(self._kept.forget, self._state_id)
        except OSError as error:
            logger.error("recording not deleted: %s", error.strerror)
