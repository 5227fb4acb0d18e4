"""How much of an incoming stream is taken into memory at all."""

import dataclasses

from livekit import rtc

STREAM_BYTES = 65_536
"""Where incoming streams end: payloads of calls, and texts that guests write."""


def is_too_large(error: rtc.StreamError) -> bool:
    """Whether a stream ended because it was larger than ``cap_incoming`` allows.

    livekit 1.1.21 tells it from a stream that its sender or the connection broke off by its words only.
    """
    return "maximum size" in error.description


def cap_incoming(room: rtc.Room, limit: int = STREAM_BYTES) -> None:
    """Let no incoming stream of a room become larger than this; call it before the room is connected.

    A call with more never reaches the agent, and its caller is told 1500. livekit's own limit is 5 GB, and
    ``JobContext.connect`` of livekit-agents 1.8.9 passes no other on, so the room's ``connect`` is wrapped.

    Args:
        room: The room, not connected yet.
        limit: The limit, in bytes, of what a stream holds when it is unpacked.
    """
    connect = room.connect

    async def capped(url: str, token: str, options: rtc.RoomOptions | None = None) -> None:
        # A copy: livekit's default options are one object for all rooms.
        options = dataclasses.replace(
            options or rtc.RoomOptions(),
            data_stream=rtc.DataStreamOptions(max_payload_byte_length=limit),
        )
        await connect(url, token, options)

    room.connect = capped  # type: ignore[method-assign]
