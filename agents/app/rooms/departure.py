"""How an agent leaves a room: it notifies clients that the call is over, or where it continues."""

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
"""How long the agent stays after its last message, in seconds: what has not left by then is
lost."""

GOODBYE_S = 2.0
"""How long notifying others may take before the agent leaves, in seconds."""


async def notify_end(conversation: RoomConversation[Any, Any] | None) -> None:
    """Wait until subscribed staff know that the call is over, for a limited time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GOODBYE_S):
            if conversation is not None:
                await conversation.page.end_is_told()


async def leave_superseded(
    room: rtc.Room,
    store: SqlStore,
    lease: RoomLease,
    conversation: RoomConversation[Any, Any] | None,
    presence: Presence,
) -> None:
    """Leave a room whose call another agent has, cutting off what is being said.

    Args:
        room: The room.
        store: Knows in which room the state is served now.
        lease: This room's lease.
        conversation: The present one.
        presence: Says whether the user is in the room.
    """
    try:
        async with asyncio.timeout(GOODBYE_S):
            if conversation is not None and room.isconnected():
                await _announce_move(room, store, lease, conversation, presence)
    except Exception as error:  # the notice is a courtesy
        logger.info("move notice not sent: %s", type(error).__name__)
    await room.disconnect()


async def _announce_move(
    room: rtc.Room,
    store: SqlStore,
    lease: RoomLease,
    conversation: RoomConversation[Any, Any],
    presence: Presence,
) -> None:
    """Tell this room that the state is served in another one now, if it is."""
    there = await store.leases.of(conversation.call.shared.state_id)
    if there is not None and there.place != lease.name:
        conversation.page.ended("moved", present=presence.present)
        await send_transcription(
            room.local_participant, conversation.words.moved, f"moved on {there.since}"
        )
        await asyncio.sleep(LAST_WORDS_S)


async def apologize_without_speech(
    room: rtc.Room, conversation: RoomConversation[Any, Any] | None, presence: Presence
) -> None:
    """End a phone call whose speech models failed, with a recorded sentence.

    Args:
        room: The room.
        conversation: The present one, if it has begun.
        presence: Says whether the caller is in the room.
    """
    if conversation is None:
        await play_recording(room)
        return
    conversation.call.hang_up()
    conversation.call.end("failed")
    conversation.page.ended("failed", present=presence.present)
    await asyncio.gather(play_recording(room), conversation.finish(), return_exceptions=True)
