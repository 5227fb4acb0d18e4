"""Leaving a room: clients are notified that the call is over, or that it continues elsewhere."""

import asyncio
import contextlib
import logging
from typing import Any

from livekit import rtc

from agents.app.rooms.conversation import RoomConversation
from agents.app.rooms.phone import play_recording
from agents.app.rooms.presence import Presence
from agents.app.rooms.rejection import send_transcription
from agents.app.rooms.room_lease import RoomLease
from state.shared import SqlStore

logger = logging.getLogger(__name__)

LAST_WORDS_S = 0.5
"""How long the agent stays after its last message, in seconds: unsent messages are lost then."""

NOTIFY_S = 2.0
"""How long notifying clients may take before the agent leaves, in seconds."""


async def notify_end(conversation: RoomConversation[Any, Any] | None) -> None:
    """Wait, for a limited time, until all clients are notified of the end of the call."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(NOTIFY_S):
            if conversation is not None:
                await conversation.page.end_delivered()


async def leave_superseded(
    room: rtc.Room,
    store: SqlStore,
    lease: RoomLease,
    conversation: RoomConversation[Any, Any] | None,
    presence: Presence,
) -> None:
    """Leave a room whose call another agent serves; speech under way is cut off.

    Args:
        room: The room.
        store: The store with the lease of the room that serves the state now.
        lease: This room's lease.
        conversation: The current one, if any.
        presence: Tracks whether the user is in the room.
    """
    try:
        async with asyncio.timeout(NOTIFY_S):
            if conversation is not None and room.isconnected():
                await _announce_move(room, store, lease, conversation, presence)
    except Exception as error:  # of any type: leaving must not fail
        logger.info("move notice not sent: %s", type(error).__name__)
    await room.disconnect()


async def _announce_move(
    room: rtc.Room,
    store: SqlStore,
    lease: RoomLease,
    conversation: RoomConversation[Any, Any],
    presence: Presence,
) -> None:
    """Notify this room if the state is served in another one now."""
    current = await store.leases.of(conversation.call.shared.state_id)
    if current is not None and current.place != lease.name:
        conversation.page.ended("moved", present=presence.present)
        await send_transcription(
            room.local_participant, conversation.words.moved, f"moved on {current.since}"
        )
        await asyncio.sleep(LAST_WORDS_S)


async def end_without_speech(
    room: rtc.Room, conversation: RoomConversation[Any, Any] | None, presence: Presence
) -> None:
    """End a phone call whose speech models failed: play a recorded sentence.

    Args:
        room: The room.
        conversation: The current one, if it has begun.
        presence: Tracks whether the caller is in the room.
    """
    if conversation is None:
        await play_recording(room)
        return
    conversation.call.hang_up()
    conversation.call.end("failed")
    conversation.page.ended("failed", present=presence.present)
    await asyncio.gather(play_recording(room), conversation.finish(), return_exceptions=True)
