"""Checks whether the LiveKit server answers, its clock agrees, and it accepts the keys."""

from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from secrets import token_hex
from urllib.parse import urlsplit

import aiohttp
from google.protobuf.message import DecodeError
from livekit import api

from agents.app.doctor.findings import ANSWER_TIMEOUT, Finding, fault, ok, warning
from agents.app.settings import AppSettings

SKEW_S = 5.0
"""How far the clocks may differ without a warning, in seconds."""

REFUSED_SKEW_S = 55.0
"""The clock difference at which a server rejects tokens, in seconds (livekit-server 1.13.5: 60)."""


async def check_server(settings: AppSettings) -> list[Finding]:
    """Check whether the LiveKit server answers, its clock agrees, and it accepts the keys."""
    url = settings.livekit_url
    if url is None or urlsplit(url).scheme not in ("ws", "wss"):
        return []  # reported with the settings
    before = datetime.now(UTC)
    try:
        async with (
            aiohttp.ClientSession(timeout=ANSWER_TIMEOUT, trust_env=True) as session,
            session.get(url.replace("ws", "http", 1)) as answer,
        ):
            status, date = answer.status, answer.headers.get("Date")
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
        return [fault("LiveKit server", f"{url} does not answer: start it, or correct LIVEKIT_URL")]
    after = datetime.now(UTC)
    if status >= 500:
        return [fault("LiveKit server", f"{url} answers with an error ({status}): see its log")]
    return [
        ok("LiveKit server", f"{url} answers"),
        *_check_clocks(date, before, after),
        await _check_keys(settings),
    ]


def _check_clocks(date: str | None, before: datetime, after: datetime) -> Iterable[Finding]:
    try:
        theirs = parsedate_to_datetime(date or "")
    except ValueError:
        return [warning("clock", "not checked: the server does not send its time")]
    # The header has whole seconds, and was written between the two readings of the local clock.
    ahead = max((before - theirs).total_seconds() - 1, 0) or min(
        (after - theirs).total_seconds(), 0
    )
    if abs(ahead) <= SKEW_S:
        return [ok("clock", "it agrees with the server's")]
    difference = f"{abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} the server's"
    if abs(ahead) >= REFUSED_SKEW_S:
        return [fault("clock", f"{difference}: tokens are rejected; synchronize it (NTP)")]
    return [warning("clock", f"{difference}: synchronize it (NTP)")]


async def _check_keys(settings: AppSettings) -> Finding:
    key, secret = settings.livekit_api_key, settings.livekit_api_secret
    if key is None or secret is None:
        return fault("LiveKit keys", "not set: put them into LIVEKIT_API_KEY, LIVEKIT_API_SECRET")
    try:
        async with api.LiveKitAPI(
            settings.livekit_url,
            key.strip(),
            secret.get_secret_value().strip(),
            timeout=ANSWER_TIMEOUT,
            failover=False,
        ) as server:
            await server.room.list_rooms(api.ListRoomsRequest(names=[token_hex(16)]))
    except api.TwirpError as error:
        if error.status in (401, 403):
            return fault(
                "LiveKit keys",
                "rejected by the server: LIVEKIT_API_KEY and LIVEKIT_API_SECRET have to be a pair it was"
                " started with",
            )
        return fault("LiveKit keys", f"not checked: the server answers {error.code}; see its log")
    except (aiohttp.ClientError, TimeoutError, OSError):
        return fault("LiveKit keys", "not checked: the server did not answer; try again")
    except DecodeError:
        return fault("LiveKit keys", "not a LiveKit server: correct LIVEKIT_URL")
    return ok("LiveKit keys", "accepted")
