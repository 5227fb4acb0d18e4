"""A call that cannot be served: the guest is told so, and is not left with an agent that never answers."""

import asyncio
from enum import Enum

from livekit import rtc
from livekit.agents import JobContext

from bella_vista.rooms.phone import end_line, is_telephone, play_recording
from bella_vista.rooms.words import BROKEN_OFF, NOT_SET_UP
from rpc.gateway import BadParams, Caller, EndNotices, Forbidden, Gateway, Method, Rejected, Request

TRANSCRIPTION = "lk.transcription"
"""Where clients read what is said."""

LINGERS_S = 10.0
"""How long it waits for somebody to tell, in seconds."""

HEARD_S = 4.0
"""How long it stays after it has told, in seconds, so that nobody's hello comes to nothing: livekit-server 1.13.5
may tell a guest up to three seconds late who is there."""

ANSWERED_S = 0.5
"""How long the answer to a hello may take on its way, in seconds."""


_PEOPLE = (
    rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD,
    rtc.ParticipantKind.PARTICIPANT_KIND_SIP,
    rtc.ParticipantKind.PARTICIPANT_KIND_CONNECTOR,
)


class Why(Enum):
    """Why a call is not served: what the guest is told, and what his client is."""

    METADATA = (
        NOT_SET_UP,
        "This call could not be set up: the dispatch's metadata is wrong. The agent's log says what.",
    )
    BROKEN = (
        BROKEN_OFF,
        "This call has broken off too often and is not continued. Join a room of your own.",
    )

    @property
    def words(self) -> str:
        """What the guest is told."""
        return self.value[0]

    @property
    def error(self) -> Rejected:
        """What a hello is answered with."""
        kind = BadParams if self is Why.METADATA else Forbidden
        return kind(self.value[1])


async def write(
    agent: rtc.LocalParticipant, words: str, segment: str, *, to: str | None = None
) -> None:
    """Say something to whoever reads what is said in the room, without a session.

    Args:
        agent: Who says it.
        words: As they stand.
        segment: An id of its own among all that this agent says.
        to: The only participant who is told; everybody without one.
    """
    await agent.send_text(
        words,
        destination_identities=None if to is None else [to],
        topic=TRANSCRIPTION,
        attributes={"lk.transcription_final": "true", "lk.segment_id": segment},
    )


async def refuse_politely(
    ctx: JobContext, why: Why, *, user: str | None = None, transfer_to: str | None = None
) -> None:
    """Join a room, say why the call is not served, and leave; a telephone hears a recorded sentence.

    Args:
        ctx: The job, not connected.
        why: Why.
        user: The identity of the user, where it is known: they are told that the call has ended, if it had begun.
        transfer_to: Where a telephone is transferred then; without it its line is ended.
    """
    called = asyncio.Event()

    async def hello(request: Request, caller: Caller) -> Request:
        called.set()
        raise why.error

    await ctx.connect()
    gateway = Gateway(
        [Method("hello", Request, hello, anybody=True)],
        role_of=lambda identity: None,
        is_there=lambda identity: bool(identity),
        version=lambda: None,
    )
    agent = ctx.room.local_participant
    gateway.install(agent)
    ends = EndNotices(agent)
    # An attribute that changes has the server tell the others at once that somebody is here.
    await agent.set_attributes({"lk.agent.state": "speaking"})
    coming = asyncio.ensure_future(ctx.wait_for_participant(kind=list(_PEOPLE)))
    calling = asyncio.ensure_future(called.wait())
    try:
        await asyncio.wait(
            (coming, calling), timeout=LINGERS_S, return_when=asyncio.FIRST_COMPLETED
        )
        if ctx.room.isconnected() and (coming.done() or calling.done()):
            if why is Why.BROKEN:
                for one in [user] if user is not None else _people(ctx.room):
                    ends.tell(one, {"reason": "failed"})
            await write(agent, why.words, ctx.job.id)
            if phones := _telephones(ctx.room):
                await play_recording(ctx.room)
                for one in phones:
                    await end_line(ctx.api, ctx.room.name, one, transfer_to=transfer_to)
            else:
                await asyncio.wait((calling,), timeout=HEARD_S)
                await asyncio.sleep(ANSWERED_S)
    finally:
        coming.cancel()
        calling.cancel()
        # A room that is closed meanwhile ends the waiting by an error (livekit-agents 1.8.9).
        await asyncio.gather(coming, calling, return_exceptions=True)
        await ends.aclose()
        await gateway.aclose()
    ctx.shutdown("it cannot be served")


def _telephones(room: rtc.Room) -> list[str]:
    """List the telephones in a room."""
    return [one.identity for one in room.remote_participants.values() if is_telephone(one)]


def _people(room: rtc.Room) -> list[str]:
    """List those in a room who have a client that can be called."""
    standard = rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD
    return [one.identity for one in room.remote_participants.values() if one.kind == standard]
