"""The web server's routes."""

import asyncio
import gzip
import hashlib
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Generic

from livekit import api
from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from agents.app.app import App
from agents.app.declaration import named_faults
from agents.app.dispatch.dispatcher import UNANSWERED, Dispatcher
from agents.app.live import LiveSettings
from agents.app.parts import C, S
from agents.app.rooms.state_of_call import state_of
from agents.app.setting_values import listed
from agents.app.settings import AppSettings
from agents.app.states import StateFaults, show_state
from agents.app.web.arrivals import Arrivals
from agents.app.web.cookies import KnownVisitor, Visitor, VisitorCookie
from agents.app.web.errors import API, NO_STORE, WebError, on_http_exception
from agents.app.web.metrics import WebMetrics
from agents.app.web.page import PageFiles, no_page
from agents.app.web.protection import (
    OriginCheck,
    Refusals,
    RequestLimits,
    allowed_hosts,
    security_headers,
)
from agents.app.web.staff import StaffApi, unavailable
from agents.app.web.tokens import TokenRequest, json_object, token_reply
from state.shared import SqlStore, StateError

logger = logging.getLogger(__name__)

_CODE = "resume_code"
_COOKIE_MISSING = "There is no valid cookie: ask for a token first."


class WebServer(Generic[S, C]):
    """Answers the requests of an application's pages.

    Args:
        settings: The settings, checked for rooms.
    """

    def __init__(
        self,
        app: App[S, C],
        settings: AppSettings,
        context: C,
        store: SqlStore,
        server: api.LiveKitAPI,
        live: LiveSettings,
    ) -> None:
        self._app = app
        self._settings = settings
        self._origins = frozenset(listed(settings.web_origins))
        self._context = context
        self._store = store
        self._live = live
        live.read_from(store)
        self.metrics = WebMetrics(app.prefix)
        self._staff = (
            StaffApi(app, settings, context, store, live, self.metrics.boards)
            if settings.staff_password_hash is not None
            else None
        )
        self.refusals = Refusals(self.metrics.refused)
        self.arrivals = Arrivals(
            Dispatcher(server, noun=app.noun), settings.agent_name, self.metrics.dispatches.inc
        )
        self._cookie = VisitorCookie(
            f"{app.prefix}_visitor", settings.livekit_keys[1], app.name, self._origins
        )

    def asgi(self) -> ASGIApp:
        """Return the ASGI application; while it runs, it dispatches agents for users who join.

        The checks wrap all of it, so that the responses to failures have the security headers too.
        """
        settings, origins = self._settings, self._origins
        url = settings.web_livekit_url or settings.livekit_url or ""
        app: ASGIApp = Starlette(
            routes=self._routes(),
            exception_handlers={HTTPException: on_http_exception, Exception: on_http_exception},
            lifespan=self._lifespan,
        )
        app = CORSMiddleware(
            RequestLimits(app, self._identify),
            allow_origins=sorted(origins),
            allow_credentials=True,
            allow_methods=["GET", "POST", "PUT"],
            allow_headers=["Content-Type"],
            max_age=600,
        )
        app = OriginCheck(
            app,
            allowed=origins,
            # A proxy checks the host name itself.
            hosts=None if settings.web_proxies else allowed_hosts(settings.web_host, origins),
            headers=security_headers(url, origins),
            refusals=self.refusals,
        )
        if settings.web_proxies:
            return ProxyHeadersMiddleware(app, trusted_hosts=settings.web_proxies)  # type: ignore[arg-type, return-value]
        return app

    def _routes(self) -> list[BaseRoute]:
        reads = [
            Route(f"{API}{name}", self._document(name, read), methods=["GET"])
            for name, read in self._app.web.documents.items()
        ]
        return [
            Route("/healthz", _health, methods=["GET"]),
            Route(f"{API}token", self._token, methods=["POST"]),
            Route(f"{API}agent", self._agent, methods=["POST"]),
            Route(f"{API}leave", self._leave, methods=["POST"]),
            Route(f"{API}{self._app.noun}", self._state, methods=["GET"]),
            Route(f"{API}{self._app.noun}", self._earlier_state, methods=["POST"]),
            *reads,
            *(self._staff.routes() if self._staff is not None else [Route("/staff", _not_found)]),
            Route(f"{API}{{rest:path}}", _not_found, methods=["GET", "POST", "PUT", "DELETE"]),
            self._page(),
        ]

    def _page(self) -> BaseRoute:
        folder = self._settings.web_page or self._app.web.page
        if folder is None or not (folder / "index.html").is_file():
            return Route("/", no_page(folder, self._app.command))
        return Mount("/", PageFiles(folder, self._set_cookie))

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        dispatching = asyncio.create_task(self.arrivals.run())
        try:
            yield
        finally:
            dispatching.cancel()
            with suppress(asyncio.CancelledError):
                await dispatching

    async def end_streams(self) -> None:
        """End the event streams: they would stay open otherwise."""
        if self._staff is not None:
            await self._staff.board.aclose()

    def _identify(self, request: Request) -> str | None:
        known = self._cookie.read(request)
        return known[0].visitor.identity if known else None

    # -- the visitor's calls -----------------------------------------------------------------------

    def _set_cookie(self, request: Request, response: Response) -> None:
        """Set the cookie with the page: the tokens it requests at once then belong to one user."""
        if not self._cookie.read(request):
            self._cookie.write(request, response, self._cookie.new(alone=True))

    async def _token(self, request: Request) -> Response:
        token_request = TokenRequest.parse(await request.body(), self._settings.agent_name)
        known = await self._known_visitor(request) or self._cookie.new(alone=False)
        reply = token_reply(known.visitor, token_request.participant_name, self._settings)
        self.arrivals.expect(known.visitor)
        self.metrics.tokens.inc()
        response = JSONResponse(reply, 201, headers=NO_STORE)
        self._cookie.write(request, response, known)
        return response

    async def _agent(self, request: Request) -> Response:
        await _refuse_fields(request)
        visitor = await self._visitor(request)
        try:
            await self.arrivals.request_agent(visitor)
        except UNANSWERED as error:
            logger.warning("agent not dispatched", extra={"error": error})
            raise WebError(
                503, "The LiveKit server does not answer: try again in a moment."
            ) from None
        return Response(status_code=202, headers=NO_STORE)

    async def _leave(self, request: Request) -> Response:
        await _refuse_fields(request)
        known = await self._known_visitor(request)
        response = Response(status_code=204, headers=NO_STORE)
        if known is not None:
            moved = KnownVisitor(known.cookie, known.visitor.with_new_room())
            self._cookie.write(request, response, moved)
        return response

    async def _state(self, request: Request) -> Response:
        visitor, noun = await self._visitor(request), self._app.noun
        try:
            state_id = await self._store.leases.last(visitor.identity)
            if state_id is None:
                raise WebError(404, f"There is no {noun} yet.")
            return await self._shown(state_id)
        except (StateError, StateFaults) as error:
            raise unavailable(error) from None

    async def _earlier_state(self, request: Request) -> Response:
        """Show the state of an earlier call: its resume code proves whose it is."""
        await self._visitor(request)
        fields = json_object(await request.body())
        code = fields.pop(_CODE, None)
        if fields or not isinstance(code, str):
            raise WebError(400, f"{_CODE}: give the code of hello, and nothing else.")
        state_id = state_of(code, self._settings.livekit_keys[1], self._app.name)
        if state_id is None:
            raise WebError(404, f"There is no {self._app.noun} with this code.")
        try:
            return await self._shown(state_id)
        except (StateError, StateFaults) as error:
            raise unavailable(error) from None

    async def _shown(self, state_id: str) -> Response:
        _, view = await show_state(self._app, self._store, state_id)
        return JSONResponse({"version": view["version"], self._app.noun: view}, headers=NO_STORE)

    async def _visitor(self, request: Request) -> Visitor:
        known = await self._known_visitor(request)
        if known is None:
            raise WebError(401, _COOKIE_MISSING)
        return known.visitor

    async def _known_visitor(self, request: Request) -> KnownVisitor | None:
        """Return the visitor of a request's cookie; of several, the one that was used."""
        known = self._cookie.read(request)
        if len(known) > 1:
            for one in known:
                if self.arrivals.has_joined(one.visitor) or await self._has_state(one.visitor):
                    return one
        return known[0] if known else None

    async def _has_state(self, visitor: Visitor) -> bool:
        try:
            return await self._store.leases.last(visitor.identity) is not None
        except StateError as error:
            raise unavailable(error) from None

    def _document(
        self, name: str, read: Callable[[C], JsonValue]
    ) -> Callable[[Request], "asyncio.Future[Response]"]:
        def write() -> bytes:
            with named_faults(f"web.documents[{name!r}]"):
                return json.dumps(
                    read(self._context), ensure_ascii=False, separators=(",", ":")
                ).encode()

        async def answer(request: Request) -> Response:
            await self._live.refresh()
            body = await asyncio.to_thread(write)
            tag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
            headers = {"ETag": tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
            if request.headers.get("if-none-match", "").removeprefix("W/") == tag:
                return Response(status_code=304, headers=headers)
            if "gzip" in request.headers.get("accept-encoding", ""):
                body = await asyncio.to_thread(gzip.compress, body)
                headers |= {"Content-Encoding": "gzip", "ETag": f"W/{tag}"}
            return Response(body, media_type="application/json", headers=headers)

        return answer  # type: ignore[return-value]


def _health(request: Request) -> Response:
    return JSONResponse({"status": "ok"}, headers=NO_STORE)


def _not_found(request: Request) -> Response:
    raise WebError(404, "There is no such route.")


async def _refuse_fields(request: Request) -> None:
    """Refuse a body with fields on a route that takes none.

    Raises:
        WebError: The body has fields.
    """
    if json_object(await request.body()):
        raise WebError(400, "This takes no fields: send an empty object, or nothing.")
