"""Staff: their login, the board of states, and the commands of their role."""

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
from agents.app.web.errors import API, NO_STORE, WebError
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

LOGIN_S = 12 * 3600
"""How long a login lasts, in seconds: one shift."""

MIN_PASSWORD = 8
"""The shortest password, in characters."""

_MAX_TRIES = 20
"""How often a change of a live setting is tried if other page servers change it first."""

MAX_LOGINS = 8
"""The most logins whose passwords wait to be checked at once."""

_MAX_LENGTH = 200
_RETRY_SOON = {"Retry-After": "2"}
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
    if not MIN_PASSWORD <= len(password) <= _MAX_LENGTH:
        raise InputError([f"A password needs {MIN_PASSWORD} to {_MAX_LENGTH} characters."])
    return PasswordHasher().hash(password)


class StaffApi(Generic[S, C]):
    """Answers the requests of staff.

    Args:
        app: The application; staff may send the commands of the role ``web.staff_role``.
        settings: The settings, with the hash of the password.

    Raises:
        InputError: The hash was not made by ``staff-password``.
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
        self._password_hash = password.get_secret_value() if password is not None else ""
        try:
            self._hasher = PasswordHasher.from_parameters(extract_parameters(self._password_hash))
        except InvalidHashError:
            fault = "is no password hash: make one with the command staff-password"
            raise InputError([f"{settings.variable('staff_password_hash')}: {fault}"]) from None
        self._app = app
        self._context = context
        self._store = store
        self._cookie_name = f"{app.prefix}_staff"
        secret = f"{settings.livekit_keys[1]}{self._password_hash}"
        self._signer = TimestampSigner(secret, salt=f"{app.name} staff 1")
        self._live = live
        self._settings_lock = asyncio.Lock()
        self._password_lock = asyncio.Semaphore(1)  # a check takes 64 MiB, and is slow on purpose
        self._pending_logins = 0
        self._revoked: set[str] = set()
        """The cookies of logins that were ended by a logout; known to this process only."""
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
                Route(f"{below}/{name}", partial(self._change_setting, name), methods=["PUT"])
                for name in self._app.web.live
            ),
        ]

    async def _login(self, request: Request) -> Response:
        fields = json_object(await request.body())
        password = fields.pop("password", None)
        if not isinstance(password, str) or fields or len(password) > _MAX_LENGTH:
            raise WebError(400, "The body has to hold the field password, and no other.")
        if self._pending_logins >= MAX_LOGINS:
            raise WebError(
                429, "Too many log in at once: try again in a moment.", headers=_RETRY_SOON
            )
        self._pending_logins += 1
        try:
            async with self._password_lock:
                right = await asyncio.to_thread(self._is_password, password)
        finally:
            self._pending_logins -= 1
        if not right:
            raise WebError(401, "The password is wrong.")
        response = Response(status_code=204, headers=NO_STORE)
        response.set_cookie(
            self._cookie_name,
            self._signer.sign(STAFF).decode(),
            max_age=LOGIN_S,
            httponly=True,
            secure=request.url.scheme == "https",
            samesite="strict",
        )
        return response

    def _is_password(self, password: str) -> bool:
        try:
            return self._hasher.verify(self._password_hash, password)
        except Argon2Error:
            return False

    async def _logout(self, request: Request) -> Response:
        if self._is_logged_in(request):
            self._revoked = {*filter(self._is_signed, self._revoked), self._cookie_of(request)}
            self.board.check_readers()
        response = Response(status_code=204, headers=NO_STORE)
        response.delete_cookie(self._cookie_name, httponly=True, samesite="strict")
        return response

    async def _list(self, request: Request) -> Response:
        self._require_login(request)
        try:
            views = await self.board.shown()
        except StateFaults as fault:
            raise unavailable(fault) from None
        settings = await self._read_settings()
        return JSONResponse({self._app.plural: views, **settings}, headers=NO_STORE)

    async def _events(self, request: Request) -> Response:
        self._require_login(request)
        await self._live.refresh()
        events = self.board.events(self._current_settings, partial(self._is_logged_in, request))
        try:
            first = await anext(events)
        except StateFaults as fault:
            raise unavailable(fault) from None
        return StreamingResponse(
            _prepended(first, events),
            media_type="text/event-stream",
            headers={**NO_STORE, "X-Accel-Buffering": "no"},
        )

    async def _change_setting(self, name: str, request: Request) -> Response:
        """Change a live setting; every process reads it within some seconds."""
        self._require_login(request)
        sent = json_object(await request.body())
        change = self._app.web.live[name]
        try:
            async with self._settings_lock:
                for _ in range(_MAX_TRIES):
                    await self._live.refresh()
                    seen = self._live.values.get(name)
                    now = dict(change(self._context, self._setting(name), sent))
                    if await self._store.replace_setting(name, seen, now):
                        break
                else:
                    raise WebError(
                        503, "Others are changing this setting: try again.", headers=_RETRY_SOON
                    )
                await self._live.refresh()
        except (Rejected, StateError) as error:
            raise refusal(error) from None
        self.board.send_setting(name, now)
        return JSONResponse(now, headers=NO_STORE)

    async def _read_settings(self) -> Mapping[str, JsonValue]:
        await self._live.refresh()
        return self._current_settings()

    def _current_settings(self) -> dict[str, JsonValue]:
        return {name: dict(self._setting(name)) for name in self._app.web.live}

    def _setting(self, name: str) -> Mapping[str, JsonValue]:
        value = self._live.values.get(name)
        return value if isinstance(value, dict) else {}

    async def _command(self, request: Request) -> Response:
        self._require_login(request)
        written = json_object(await request.body())
        version, key = written.pop("version", None), written.pop("key", None)
        try:
            if version is not None and (type(version) is not int or version < 0):
                raise WebError(400, "version: has to be a whole number.")
            if key is not None and (type(key) is not str or not 0 < len(key) <= _MAX_LENGTH):
                raise WebError(400, f"key: has to be a text of 1 to {_MAX_LENGTH} characters.")
            reply = await self._apply(request.path_params["state_id"], written, version, key)
        except (Rejected, StateError) as error:
            raise refusal(error) from None
        self.board.poll_now()
        return JSONResponse(reply, headers=NO_STORE)

    async def _apply(
        self, state_id: str, written: dict[str, Any], version: int | None, key: str | None
    ) -> dict[str, JsonValue]:
        """Apply a command; a call that holds the state loads the change."""
        app, spec = self._app, self._app.page_spec
        command = read_command(spec, written, Caller("", app.web.staff_role))
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

    def _require_login(self, request: Request) -> None:
        if not self._is_logged_in(request):
            raise WebError(401, "Log in first.")

    def _is_logged_in(self, request: Request) -> bool:
        cookie = self._cookie_of(request)
        return cookie not in self._revoked and self._is_signed(cookie)

    def _is_signed(self, cookie: str) -> bool:
        try:
            return self._signer.unsign(cookie, max_age=LOGIN_S) == STAFF.encode()
        except BadSignature:
            return False

    def _cookie_of(self, request: Request) -> str:
        return request.cookies.get(self._cookie_name, "")


async def _prepended(first: str, others: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for one in others:
        yield one


def refusal(error: Rejected | StateError) -> WebError:
    """Return the response to a refused command: the RPC's error with an HTTP status."""
    if isinstance(error, UnknownState | OtherOwner):
        return WebError(404, "There is no state with this id.")
    if isinstance(error, JournalFault):
        logger.warning("staff command not stored: %s", error.message)
    described: ErrorObject = error_object(error)
    status = _STATUS.get(described.code, 500)
    return WebError(
        status, described.detail, kind=described.type, more={"reason": described.reason}
    )


def unavailable(error: Exception) -> WebError:
    """Log that the database cannot be used, and return the response."""
    logger.warning("database unavailable, request refused", extra={"error": error})
    return WebError(503, "The database does not answer: try again in a moment.")
