"""From answering a telephone to the first sound of the greeting, with a warm process, beside plain livekit-agents.

There is no telephone: a participant of kind SIP joins as livekit-sip does. It has the attributes and the 8 kHz
microphone of one, and its token has the room configuration of a dispatch rule, by which the server opens the room and
dispatches the agent.
"""

import asyncio
import json
import os
import shutil
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from functools import partial
from secrets import token_hex

from livekit import api, rtc

from agents.app.livekit_server import HOW_TO_GET, find_program
from tests.agents.app.serving.processes import descendants
from tests.benchmarks.by_hand import telephone as by_hand
from tests.benchmarks.measuring import Samples, all_of, alternate, ratio
from tests.benchmarks.report import Table, ms
from tests.benchmarks.rooms.deployment import AGENT, AS_IT_IS, JOIN_S, Deployment, deployed
from tests.benchmarks.rooms.processes import worked_by
from tests.benchmarks.rooms.spoken import stand_ins

MOST_MS = 1000.0
"""Budget: what the slowest greeting may take from answering to its first sound, in milliseconds."""

PLAIN, OURS, LOCAL = "plain", "ours", "ours, voices without a key"
JOINING, TRACK, SOUND, AFTER_TRACK = "joining", "track", "sound", "sound after track"

_SIP = {"sip.callID": "SCL_bench", "sip.callStatus": "active", "sip.phoneNumber": "+12125550142"}
_LINE_RATE, _RATE, _LOUD = 8_000, 16_000, 300
_PIECE_S, _FRAME_MS = 0.1, 10
_LOOK_S, _AT_REST_S = 0.5, 0.06
"""How long the processes are looked at, and how much of it they may work at rest, all together, in seconds."""

_COLD = "no warmed process available"


def measure(calls: int) -> list[Table]:
    """Call each side so many times, in turn, if there is all that it takes."""
    program = find_program()
    if program is None:
        left_out = f"The telephone was left out: there is no LiveKit server here ({HOW_TO_GET})"
        return [Table(left_out, ())]
    with ExitStack() as stack:
        _, settings = stack.enter_context(stand_ins(0))
        settings["BELLA_VISTA_IDLE"] = "1"
        workers: dict[str, tuple[Sequence[str], dict[str, str]]] = {
            PLAIN: (("-m", by_hand.__name__), settings),
            OURS: (AS_IT_IS, settings),
        }
        if shutil.which("espeak-ng") or shutil.which("flite"):
            local = {"BELLA_VISTA_STT": "local", "BELLA_VISTA_TTS": "local"}
            workers[LOCAL] = (AS_IT_IS, {**local, "BELLA_VISTA_IDLE": "1"})
        sides: dict[str, Callable[[], Awaitable[Samples]]] = {
            side: partial(_called, stack.enter_context(deployed(program, command, **more)))
            for side, (command, more) in workers.items()
        }
        return [_table(asyncio.run(alternate(calls, sides)))]


def _table(results: list[dict[str, Samples]]) -> Table:
    table = Table(
        "From answering a telephone to the greeting's first sound, ms",
        ("joining", "track", "sound", "most", "after the track", "most", "of plain"),
        note=f"{len(results)} calls on each side, one after the other, each taken by a warm process. A participant of"
        " kind SIP joins, in the time under joining, and the agent is dispatched meanwhile. From then on count, at the"
        " median: track, until it is subscribed to the agent's track, and sound, until the first frame of the greeting"
        " that is not silent. livekit-sip lets the telephone ring until it has that track; from there is the time after"
        " the track. The providers' stand-ins answer at once; espeak-ng or flite are real.",
        subject="Telephone",
    )
    for side in results[0]:
        sounds = all_of(results, side, SOUND)
        after = all_of(results, side, AFTER_TRACK)
        table.add(
            side,
            *(
                ms(statistics.median(all_of(results, side, what)), 0)
                for what in (JOINING, TRACK, SOUND)
            ),
            ms(max(sounds), 0),
            ms(statistics.median(after), 0),
            ms(max(after), 0),
            "" if side == PLAIN else f"{ratio(results, side, PLAIN, SOUND).overall:.2f}",
            measured=None if side == PLAIN else round(max(sounds) * 1000),
            budget=None if side == PLAIN else MOST_MS,
        )
    return table


async def _called(deployment: Deployment) -> Samples:
    """Call once, listen to the beginning of the greeting, and hang up.

    Raises:
        RuntimeError: The process was not a warm one.
        TimeoutError: There was no greeting.
    """
    await _at_rest()
    livekit, name = deployment.livekit, f"call-{token_hex(8)}"
    agents = [api.RoomAgentDispatch(agent_name=AGENT, metadata=json.dumps({"channel": "phone"}))]
    token = (
        api.AccessToken(livekit.api_key, livekit.api_secret)
        .with_identity(f"sip_{token_hex(8)}")
        .with_kind("sip")
        .with_attributes(_SIP)
        .with_grants(api.VideoGrants(room_join=True, room=name))
        .with_room_config(api.RoomConfiguration(agents=agents))
    )
    room = rtc.Room()
    tracks: asyncio.Queue[tuple[float, rtc.RemoteTrack]] = asyncio.Queue()
    room.on("track_subscribed", lambda track, *_: tracks.put_nowait((time.perf_counter(), track)))
    begin = time.perf_counter()
    await room.connect(livekit.url, token.to_jwt())
    answered = time.perf_counter()
    line = asyncio.create_task(_be_silent(room))
    try:
        async with asyncio.timeout(JOIN_S):
            subscribed, track = await tracks.get()
            heard = await _first_sound(track)
    finally:
        line.cancel()
        await asyncio.gather(line, return_exceptions=True)
        await room.disconnect()
        async with livekit.api() as server:
            await server.room.delete_room(api.DeleteRoomRequest(room=name))
    if any(_COLD in one for one in deployment.worker.lines):
        raise RuntimeError("a call was not taken by a warm process")
    return {
        JOINING: [answered - begin],
        TRACK: [subscribed - answered],
        SOUND: [heard - answered],
        AFTER_TRACK: [heard - subscribed],
    }


async def _be_silent(room: rtc.Room) -> None:
    """Publish a telephone's microphone, into which nothing is said."""
    source = rtc.AudioSource(_LINE_RATE, 1, queue_size_ms=200)
    track = rtc.LocalAudioTrack.create_audio_track("sip", source)
    options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
    await room.local_participant.publish_track(track, options)
    frame = rtc.AudioFrame.create(_LINE_RATE, 1, int(_LINE_RATE * _PIECE_S))
    try:
        while True:
            await source.capture_frame(frame)
    finally:
        await source.aclose()


async def _first_sound(track: rtc.RemoteTrack) -> float:
    """Listen to a track; returns when its first frame with a sound came."""
    stream = rtc.AudioStream.from_track(
        track=track, sample_rate=_RATE, num_channels=1, frame_size_ms=_FRAME_MS
    )
    try:
        async for event in stream:
            if max(map(abs, event.frame.data)) > _LOUD:
                return time.perf_counter()
    finally:
        await stream.aclose()
    raise RuntimeError("the greeting's track ended without a sound")


async def _at_rest() -> None:
    """Wait until no process of the benchmark works: the last call is over, and the next one's is warm."""
    async with asyncio.timeout(JOIN_S):
        while True:
            there = descendants(os.getpid())
            before = worked_by(there)
            await asyncio.sleep(_LOOK_S)
            if worked_by(there) - before < _AT_REST_S and descendants(os.getpid()) == there:
                return
