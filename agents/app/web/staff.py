"""Staff: their login, the states as they come, and the commands of their role."""

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any, Generic

from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import Argon2Error, InvalidHashError
from itsdangerous import BadSignature, TimestampSigner
from prometheus_client import Gauge
from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from agents.app.app import App
from agents.app.faults import InputError
from agents.app.live import LiveSettings
from agents.app.parts import C, S
from agents.app.settings import AppSettings
from agents.app.states import STAFF, StateFaults
from agents.app.web.board import Board
from agents.app.web.errors import API, WebError
from agents.app.web.tokens import json_object
from rpc.gateway import Caller, ErrorObject, Rejected
from rpc.gateway.errors import VersionDemanded, error_object
from rpc.page.methods import read_command
from state.shared import (
    JournalFault,
    OtherOwner,
    SharedState,
    SqlStore,
    StateError,
    UnknownState,
)

logger = logging.getLogger(__name__)

SHIFT_S = 12 * 3600
"""How long a login lasts, in seconds."""

SHORTEST = 8
"""The shortest password, in characters."""

_TRIES = 20
"""How often a change of a live setting is made again because another page server was faster."""

MOST_LOGINS = 8
"""How many logins may wait for the check of their password at once."""

_LONGEST = 200
_SOON = {"Retry-After": "2"}
_NO_STORE = {"Cache-Control": "no-store"}
_STATUS: Mapping[int, int] = {
    **{4000: 400, 4001: 400, 4005: 400, 4028: 400, 4003: 403, 4004: 404},
    **{4009: 409, 4010: 409, 4011: 409, 4022: 409, 5003: 503, 5004: 503},
}
"""The HTTP status of each error code of the RPC; 500 for others."""


def hash_password(password: str) -> str:
    """Hash a password for the settings.

    Raises:
        InputError: It is too short or too long.
    """
    if not SHORTEST <= len(password) <= _LONGEST:
        raise InputError([f"A password has {SHORTEST} to {_LONGEST} characters."])
    return PasswordHasher().hash(password)


class StaffDesk(Generic[S, C]):
    """Answers the requests of staff.

    Args:
        app: The application; staff may send the commands of its page's role ``staff``.
        settings: The settings, with the hash of the password.

    Raises:
        InputError: The hash is none that this program makes.
    """

    def __init__(
        self,
        app: App[S, C],
        settings: AppSettings,
        context: C,
        store: SqlStore,
        live: LiveSettings,
        boards: Gauge,
    ) -> None:
        password = settings.staff_password_hash
        self._hash = password.get_secret_value() if password is not None else ""
        try:
            self._hasher = PasswordHasher.from_parameters(extract_parameters(self._hash))
        except InvalidHashError:
            told = "is no password hash: make one with the command staff-password"
            raise InputError([f"{settings.variable('staff_password_hash')}: {told}"]) from None
        self._app = app
        self._context = context
        self._store = store
        self._cookie = f"{app.prefix}_staff"
        secret = f"{settings.livekit_keys[1]}{self._hash}"
        self._signer = TimestampSigner(secret, salt=f"{app.name} staff 1")
        self._live = live
        self._changing = asyncio.Lock()
        self._checking = asyncio.Semaphore(1)  # it takes 64 MiB, and as long as it is meant to
        self._logins = 0
        self._ended: set[str] = set()
        """The cookies of logins that were ended before their time; this process alone knows them."""
        self.board = Board(app, store, self._read_settings, boards)

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        below, plural = f"{API}staff", self._app.plural
        return [
            Route(f"{below}/login", self._login, methods=["POST"]),
            Route(f"{below}/logout", self._logout, methods=["POST"]),
            Route(f"{below}/{plural}", self._list, methods=["GET"]),
            Route(f"{below}/{plural}/{{state_id}}", self._command, methods=["POST"]),
            Route(f"{below}/events", self._events, methods=["GET"]),
            *(
                Route(f"{below}/{name}", partial(self._change, name), methods=["PUT"])
                for name in self._app.web.live
            ),
        ]

    async def _login(self, request: Request) -> Response:
        fields = json_object(await request.body())
        password = fields.pop("password", None)
        if not isinstance(password, str) or fields or len(password) > _LONGEST:
            raise WebError(400, "Send the password, and nothing else.")
        if self._logins >= MOST_LOGINS:
            raise WebError(429, "Too many log in at once: try again in a moment.", headers=_SOON)
        self._logins += 1
        try:
            async with self._checking:
                right = await asyncio.to_thread(self._is_right, password)
        finally:
            self._logins -= 1
        if not right:
            raise WebError(401, "This is not the password.")
        response = Response(status_code=204, headers=_NO_STORE)
        response.set_cookie(
            self._cookie,
            self._signer.sign(STAFF).decode(),
            max_age=SHIFT_S,
            httponly=True,
            secure=request.url.scheme == "https",
            samesite="strict",
        )
        return response

    def _is_right(self, password: str) -> bool:
        try:
            return self._hasher.verify(self._hash, password)
        except Argon2Error:
            return False

    async def _logout(self, request: Request) -> Response:
        if self._is_logged_in(request):
            self._ended = {*filter(self._is_signed, self._ended), self._cookie_of(request)}
            self.board.check_readers()
        response = Response(status_code=204, headers=_NO_STORE)
        response.delete_cookie(self._cookie, httponly=True, samesite="strict")
        return response

    async def _list(self, request: Request) -> Response:
        self._demand_login(request)
        try:
            views = await self.board.shown()
        except StateFaults as fault:
            raise unavailable(fault) from None
        settings = await self._read_settings()
        return JSONResponse({self._app.plural: views, **settings}, headers=_NO_STORE)

    async def _events(self, request: Request) -> Response:
        self._demand_login(request)
        await self._live.refresh()
        events = self.board.events(self._settings_now, partial(self._is_logged_in, request))
        try:
            first = await anext(events)
        except StateFaults as fault:
            raise unavailable(fault) from None
        return StreamingResponse(
            _after(first, events),
            media_type="text/event-stream",
            headers={**_NO_STORE, "X-Accel-Buffering": "no"},
        )

    async def _change(self, name: str, request: Request) -> Response:
        """Change one of the live settings; every process reads it within some seconds."""
        self._demand_login(request)
        sent = json_object(await request.body())
        change = self._app.web.live[name]
        try:
            async with self._changing:
                for _ in range(_TRIES):
                    await self._live.refresh()
                    seen = self._live.values.get(name)
                    now = dict(change(self._context, self._setting(name), sent))
                    if await self._store.replace_setting(name, seen, now):
                        break
                else:
                    raise WebError(503, "Others are changing this: try again.", headers=_SOON)
                await self._live.refresh()
        except (Rejected, StateError) as error:
            raise refusal(error) from None
        self.board.tell_setting(name, now)
        return JSONResponse(now, headers=_NO_STORE)

    async def _read_settings(self) -> Mapping[str, JsonValue]:
        await self._live.refresh()
        return self._settings_now()

    def _settings_now(self) -> dict[str, JsonValue]:
        return {name: dict(self._setting(name)) for name in self._app.web.live}

    def _setting(self, name: str) -> Mapping[str, JsonValue]:
        value = self._live.values.get(name)
        return value if isinstance(value, dict) else {}

    async def _command(self, request: Request) -> Response:
        self._demand_login(request)
        written = json_object(await request.body())
        version, key = written.pop("version", None), written.pop("key", None)
        try:
            if version is not None and (type(version) is not int or version < 0):
                raise WebError(400, "version: has to be a whole number.")
            if key is not None and (type(key) is not str or not 0 < len(key) <= _LONGEST):
                raise WebError(400, "key: has to be a text.")
            reply = await self._apply(request.path_params["state_id"], written, version, key)
        except (Rejected, StateError) as error:
            raise refusal(error) from None
        self.board.look_now()
        return JSONResponse(reply, headers=_NO_STORE)

    async def _apply(
        self, state_id: str, written: dict[str, Any], version: int | None, key: str | None
    ) -> dict[str, JsonValue]:
        """Apply a command beside the call that may hold the state, which loads the change."""
        app, spec = self._app, self._app.page_spec
        command = read_command(spec, written, Caller("", STAFF))
        stored = await self._store.read(state_id)
        shared = SharedState.restored(stored, app.state_type, self._context)
        if command.demands_version and version is None:
            command.touches(shared.state)
            raise VersionDemanded("Say which version you have seen.", field="version")
        own = hashlib.sha256(f"staff\0{key}".encode()).hexdigest() if key is not None else None
        applied = await shared.apply(
            spec.resolve(self._context, command),
            actor=STAFF,
            seen=version,
            key=f"web:{own}" if own is not None else None,
        )
        view = app.view_for_staff(applied.state, applied.version, applied.speaker, state_id)
        return {"version": applied.version, app.noun: view}

    def _demand_login(self, request: Request) -> None:
        if not self._is_logged_in(request):
            raise WebError(401, "Log in first.")

    def _is_logged_in(self, request: Request) -> bool:
        cookie = self._cookie_of(request)
        return cookie not in self._ended and self._is_signed(cookie)

    def _is_signed(self, cookie: str) -> bool:
        try:
            return self._signer.unsign(cookie, max_age=SHIFT_S) == STAFF.encode()
        except BadSignature:
            return False

    def _cookie_of(self, request: Request) -> str:
        return request.cookies.get(self._cookie, "")


async def _after(first: str, others: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for one in others:
        yield one


def refusal(error: Rejected | StateError) -> WebError:
    """Return the answer to a command that was not carried out: the error of the RPC, by its HTTP status."""
    if isinstance(error, UnknownState | OtherOwner):
        return WebError(404, "There is none with this id.")
    if isinstance(error, JournalFault):
        logger.warning("staff's command not stored: %s", error.message)
    told: ErrorObject = error_object(error)
    status = _STATUS.get(told.code, 500)
    return WebError(status, told.detail, kind=told.type, more={"reason": told.reason})


def unavailable(error: Exception) -> WebError:
    """Return the answer while the database cannot be used."""
    logger.warning("state not read", extra={"error": error})
    return WebError(503, "The database does not answer: try again in a moment.")
