"""Rejects a call that cannot be served: joins the room, tells the user why, and leaves."""

import asyncio
from enum import Enum

from livekit import rtc
from livekit.agents import JobContext

from agents.app.rooms.phone import end_line, is_telephone, play_recording
from agents.app.rooms.presence import PEOPLE
from agents.app.words import Words
from rpc.gateway import BadParams, Caller, EndNotices, Forbidden, Gateway, Method, Rejected, Request

TRANSCRIPTION = "lk.transcription"
"""The topic on which clients read transcriptions."""

WAIT_FOR_USER_S = 10.0
"""How long to wait for a participant to notify, in seconds."""

STAY_S = 4.0
"""How long to stay after the notification, in seconds, so that a hello still gets its reply:
livekit-server 1.13.5 may announce the agent to the user up to three seconds late."""

REPLY_S = 0.5
"""How long the reply to a hello may take to arrive, in seconds."""


class RejectReason(Enum):
    """Why a call is rejected: the sentence that the user hears, and the error that a client gets."""

    METADATA = (
        "not_set_up",
        "This call could not be set up: the dispatch's metadata is invalid. The agent's log has the faults.",
    )
    APPLICATION = ("not_set_up", "This call could not be set up. The agent's log has the reason.")
    BROKEN = (
        "broken_off",
        "This call has failed too often and is not continued. Join another room.",
    )

    def sentence(self, words: Words) -> str:
        """Return the sentence that the user hears."""
        return str(getattr(words, self.value[0]))

    @property
    def error(self) -> Rejected:
        """The error that answers a hello."""
        kind = BadParams if self is RejectReason.METADATA else Forbidden
        return kind(self.value[1])


async def send_transcription(
    agent: rtc.LocalParticipant, words: str, segment: str, *, to: str | None = None
) -> None:
    """Send a text as a final transcription, without a session.

    Args:
        agent: The sender.
        words: The text.
        segment: A segment id, unique for this agent.
        to: The only recipient; by default all participants.
    """
    await agent.send_text(
        words,
        destination_identities=None if to is None else [to],
        topic=TRANSCRIPTION,
        attributes={"lk.transcription_final": "true", "lk.segment_id": segment},
    )


async def reject_call(
    ctx: JobContext,
    reason: RejectReason,
    words: Words,
    *,
    user: str | None = None,
    transfer_to: str | None = None,
) -> None:
    """Join a room, tell the user why the call is rejected, and leave; phone callers hear an announcement.

    Args:
        ctx: The job, not connected.
        reason: Why it is rejected.
        words: The application's sentences.
        user: The user's identity, if known: they are notified of the end of a call that had begun.
        transfer_to: Where a phone caller is transferred afterwards; without it their line is ended.
    """
    called = asyncio.Event()

    async def hello(request: Request, caller: Caller) -> Request:
        called.set()
        raise reason.error

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
    # livekit-server announces an agent to the others at once when one of its attributes changes.
    await agent.set_attributes({"lk.agent.state": "speaking"})
    coming = asyncio.ensure_future(ctx.wait_for_participant(kind=list(PEOPLE)))
    calling = asyncio.ensure_future(called.wait())
    try:
        await asyncio.wait(
            (coming, calling), timeout=WAIT_FOR_USER_S, return_when=asyncio.FIRST_COMPLETED
        )
        if ctx.room.isconnected() and (coming.done() or calling.done()):
            if reason is RejectReason.BROKEN:
                for one in [user] if user is not None else _people(ctx.room):
                    ends.tell(one, {"reason": "failed"})
            await send_transcription(agent, reason.sentence(words), ctx.job.id)
            if phones := _telephones(ctx.room):
                await play_recording(ctx.room)
                for one in phones:
                    await end_line(ctx.api, ctx.room.name, one, transfer_to=transfer_to)
            else:
                await asyncio.wait((calling,), timeout=STAY_S)
                await asyncio.sleep(REPLY_S)
    finally:
        coming.cancel()
        calling.cancel()
        # In livekit-agents 1.8.9 the wait raises if the room is closed meanwhile.
        await asyncio.gather(coming, calling, return_exceptions=True)
        await ends.aclose()
        await gateway.aclose()
    ctx.shutdown("call rejected")


def _telephones(room: rtc.Room) -> list[str]:
    """List the phone callers in a room."""
    return [one.identity for one in room.remote_participants.values() if is_telephone(one)]


def _people(room: rtc.Room) -> list[str]:
    """List the participants with a client that can receive RPC calls."""
    standard = rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD
    return [one.identity for one in room.remote_participants.values() if one.kind == standard]
