"""Limits how much of an incoming stream is kept in memory."""

import dataclasses

from livekit import rtc

STREAM_BYTES = 65_536
"""The limit of incoming streams in bytes: RPC payloads and chat messages."""


def is_too_large(error: rtc.StreamError) -> bool:
    """Whether a stream failed because it exceeds the limit of ``cap_incoming``.

    livekit 1.1.21 distinguishes it from a stream cut off by its sender or the connection only by the message.
    """
    return "maximum size" in error.description


def cap_incoming(room: rtc.Room, limit: int = STREAM_BYTES) -> None:
    """Limit the size of a room's incoming streams. Call it before the room is connected.

    A call with a larger payload never reaches the agent, and its caller gets 1500. livekit's own limit is 5 GB, and
    ``JobContext.connect`` of livekit-agents 1.8.9 cannot set another, so the room's ``connect`` is wrapped.

    Args:
        room: The room, not connected yet.
        limit: The limit of an unpacked stream, in bytes.
    """
    connect = room.connect

    async def capped(url: str, token: str, options: rtc.RoomOptions | None = None) -> None:
        # A copy: livekit's default options are one object shared by all rooms.
        options = dataclasses.replace(
            options or rtc.RoomOptions(),
            data_stream=rtc.DataStreamOptions(max_payload_byte_length=limit),
        )
        await connect(url, token, options)

    room.connect = capped  # type: ignore[method-assign]
