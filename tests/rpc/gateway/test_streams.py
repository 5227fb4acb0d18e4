"""Incoming streams are capped where livekit would take five gigabytes."""

from typing import Any

from livekit import rtc

from rpc.gateway import cap_incoming


async def test_the_cap_is_passed_on_with_all_other_options() -> None:
    asked: list[Any] = []

    class Room(rtc.Room):
        async def connect(
            self,
            url: str,
            token: str,
            options: rtc.RoomOptions = rtc.RoomOptions(),  # noqa: B008
        ) -> None:
            asked.append((url, token, options))

    room, other = Room(), Room()
    cap_incoming(room, 1_000)
    given = rtc.RoomOptions(auto_subscribe=False)

    await room.connect("ws://here", "token", given)
    await room.connect("ws://here", "token")
    await other.connect("ws://here", "token")

    limits = [
        options.data_stream.max_payload_byte_length if options.data_stream else None
        for _, _, options in asked
    ]
    assert limits == [1_000, 1_000, None]
    assert [options.auto_subscribe for _, _, options in asked] == [False, True, True]
    assert given.data_stream is None
