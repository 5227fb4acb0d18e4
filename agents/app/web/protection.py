"""Checks of every request (host, origin, rate, size), security headers, and counts of refusals."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

import prometheus_client as metrics
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.app.web.errors import API, WebError, error_response
from rpc.gateway.rates import Rates

logger = logging.getLogger(__name__)

MAX_BODY = 16 * 1024
"""The largest request body, in bytes."""

MAX_HEADERS = 16 * 1024
"""The largest headers of a request, in bytes; the HTTP server alone would accept far more."""

BODY_S = 10.0
"""How long a request's body may take to arrive, in seconds."""

LOGIN = f"{API}staff/login"
"""The path of staff's login."""

BURST, PER_SECOND = 60, 5.0
"""The requests below ``/api/`` that one client may make at once, and then per second."""

PATH_LIMITS: Mapping[str, tuple[int, float]] = {
    f"{API}token": (30, 0.5),
    f"{API}agent": (15, 0.25),
    LOGIN: (5, 0.1),
}
"""The same for single paths."""

CLIENTS_PER_ADDRESS = 10
"""All clients of an address share the limits of so many clients, since one client can get many cookies.

Logins are counted by address only."""

_REASONS = {400: "request", 401: "cookie", 403: "role", 405: "request", 408: "body"}
_REASONS |= {409: "conflict", 413: "body", 429: "rate", 431: "headers"}


def reason_of(status: int, path: str) -> str | None:
    """Return the reason that a refused request is counted by; ``None`` if it was not refused.

    >>> reason_of(413, "/api/token"), reason_of(429, LOGIN), reason_of(404, "/api/order")
    ('body', 'login', None)
    """
    if status in (400, 401, 429) and path == LOGIN:
        return "login"
    if status == 400 and path == f"{API}token":
        return "token"
    return _REASONS.get(status)


_LOG_EVERY_S = 1.0


class Refusals:
    """Counts refused requests by reason, and logs them at most once a second each.

    Args:
        counter: Counts them for Prometheus, with the label ``reason``.
        clock: The present time in seconds; only differences count.
    """

    def __init__(
        self, counter: metrics.Counter, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._counter = counter
        self.counts: Counter[str] = Counter()
        """By reason, since the start."""
        self._clock = clock
        self._logged_at: dict[str, float] = {}

    def add(self, reason: str) -> None:
        """Count a refusal. Neither the address nor data of the request is logged."""
        self.counts[reason] += 1
        self._counter.labels(reason).inc()
        now = self._clock()
        if now - self._logged_at.get(reason, float("-inf")) >= _LOG_EVERY_S:
            self._logged_at[reason] = now
            logger.warning(
                "request refused", extra={"reason": reason, "count": self.counts[reason]}
            )


class OriginCheck:
    """Refuses requests of pages of other origins, and adds the security headers to every answer.

    A request without an origin does not come from a page of another origin, and is accepted.

    Args:
        app: The ASGI application to protect.
        allowed: The origins that may call, besides the server's own.
        hosts: The host names that requests may name; ``None`` for any.
        headers: The headers of every answer.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        allowed: frozenset[str],
        hosts: frozenset[str] | None,
        headers: Mapping[str, str],
        refusals: Refusals,
    ) -> None:
        self._app = app
        self._allowed = allowed
        self._hosts = hosts
        self._headers = headers
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        known_host = self._hosts is None or _is_allowed_host(Headers(scope=scope), self._hosts)
        small = sum(len(name) + len(value) for name, value in scope["headers"]) <= MAX_HEADERS
        may_call = not scope["path"].startswith(API) or not small or self._may_call(scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                if not known_host:
                    self._refusals.add("host")
                elif scope["path"].startswith(API):
                    reason = reason_of(message["status"], scope["path"]) if may_call else "origin"
                    if reason is not None:
                        self._refusals.add(reason)
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                if scope["scheme"] == "https":
                    headers.setdefault("Strict-Transport-Security", "max-age=31536000")
            await send(message)

        answer = self._app
        if not known_host:
            error = WebError(421, "This server is for this machine: call it by localhost.")
            answer = error_response(error)
        elif not small:
            error = WebError(431, f"The headers may have at most {MAX_HEADERS} bytes.")
            answer = error_response(error)
        elif not may_call:
            answer = error_response(WebError(403, "Pages of this origin may not call this server."))
        await answer(scope, receive, send_with_headers)

    def _may_call(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        return all(self._is_known(origin, scope, headers) for origin in headers.getlist("origin"))

    def _is_known(self, origin: str, scope: Scope, headers: Headers) -> bool:
        if origin in self._allowed:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        # A proxy that ends TLS may not say so, so both schemes are accepted over plain http.
        schemes = ("https",) if scope["scheme"] == "https" else ("http", "https")
        return parts.scheme in schemes and parts.netloc == headers.get("host", "").lower()


def allowed_hosts(host: str, origins: Iterable[str]) -> frozenset[str] | None:
    """Return the host names that requests to a server may name, besides addresses; ``None`` for any.

    After DNS rebinding a foreign page's name resolves to this machine, and the browser treats the page
    as this server's own: only the name differs. A server that other machines reach may have any name.

    >>> allowed_hosts("0.0.0.0", []), sorted(allowed_hosts("127.0.0.1", ["https://shop.example:8443"]) or ())
    (None, ['localhost', 'shop.example'])
    """
    if host != "localhost" and not (_is_address(host) and ip_address(host).is_loopback):
        return None
    return frozenset({"localhost", *(urlsplit(origin).hostname or "" for origin in origins)})


def _is_allowed_host(headers: Headers, hosts: frozenset[str]) -> bool:
    try:
        host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
    except ValueError:
        return False
    return host in hosts or host.endswith(".localhost") or _is_address(host)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


class RequestLimits:
    """RequestLimits the rate of requests below ``/api/``, and the size of their bodies.

    Users behind one address do not share a limit: each client has its own, by its identity or, without one, by
    its address. All clients of an address share a larger limit.

    Args:
        app: The ASGI application to protect.
        identify: Returns the identity that a request proves, if any.
        clock: The present time in seconds; only differences count.
    """

    def __init__(
        self,
        app: ASGIApp,
        identify: Callable[[Request], str | None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        def rates(at_once: int, per_second: float, times: int = 1) -> Rates:
            return Rates(at_once=at_once * times, per_second=per_second * times, clock=clock)

        self._app = app
        self._identify = identify
        limits = {"": (BURST, PER_SECOND), **PATH_LIMITS}
        self._of_client = {path: rates(*limit) for path, limit in limits.items()}
        self._of_address = {
            path: rates(*limit, 1 if path == LOGIN else CLIENTS_PER_ADDRESS)
            for path, limit in limits.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or not scope["path"].startswith(API):
            await self._app(scope, receive, send)
            return
        try:
            self._check_rate(scope)
            body = await _read_body(scope, receive)
        except WebError as refusal:
            await error_response(refusal)(scope, receive, send)
            return
        if body is not None:
            await self._app(scope, _with_body(body, receive), send)

    def _check_rate(self, scope: Scope) -> None:
        address = network_of(scope["client"][0] if scope.get("client") else "")
        client = self._identify(Request(scope)) or address
        for path in ("", scope["path"]):
            if path not in self._of_client:
                continue
            for rates, asks in ((self._of_client[path], client), (self._of_address[path], address)):
                wait_ms = rates.take(asks)
                if wait_ms is not None:
                    seconds = -(-wait_ms // 1000)
                    raise WebError(
                        429,
                        f"Too many requests: try again in {seconds} s.",
                        headers={"Retry-After": str(seconds)},
                    )
                rates.done(asks)


def network_of(address: str) -> str:
    """Return the network that counts as one address: for IPv6 the 64 bits of a subscriber.

    >>> network_of("192.0.2.7"), network_of("2001:db8::1:2"), network_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::', '192.0.2.7')
    """
    try:
        known = ip_address(address)
    except ValueError:
        return address[:64]
    if not isinstance(known, IPv6Address):
        return str(known)
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(IPv6Address(int(known) >> 64 << 64))


async def _read_body(scope: Scope, receive: Receive) -> bytes | None:
    """Read the whole body; ``None`` if the client has gone."""
    length = Headers(scope=scope).get("content-length", "0")
    too_large = WebError(413, f"The body may have at most {MAX_BODY} bytes.")
    if not length.isdecimal() or int(length) > MAX_BODY:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > MAX_BODY:
                    raise too_large
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise WebError(408, "The body did not arrive in time.") from None


def _with_body(body: bytes, receive: Receive) -> Receive:
    waiting = [body]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay


def security_headers(livekit_url: str, origins: Iterable[str]) -> dict[str, str]:
    """Return the headers of every answer.

    Args:
        livekit_url: The LiveKit server's address, to which pages connect.
        origins: The origins that may show the page in a frame.
    """
    policy = {
        "default-src": "'self'",
        "connect-src": " ".join(("'self'", *_addresses(livekit_url))),
        "img-src": "'self' data: blob:",
        "media-src": "'self' blob: data:",
        "worker-src": "'self' blob:",
        "style-src": "'self' 'unsafe-inline'",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(("'self'", *sorted(origins))),
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
        "Cross-Origin-Opener-Policy": "same-origin",
    }


def _addresses(livekit_url: str) -> list[str]:
    """Return the addresses that LiveKit's client connects to: signalling, and validation over HTTP.

    >>> _addresses("wss://rooms.example:7443")
    ['wss://rooms.example:7443', 'https://rooms.example:7443']
    """
    parts = urlsplit(livekit_url)
    hosts = [parts.netloc]
    if (parts.hostname or "").endswith(".livekit.cloud"):  # it names servers of other regions
        hosts.append("*.livekit.cloud")
    web = {"ws": "http", "wss": "https"}[parts.scheme]
    return [f"{scheme}://{host}" for host in hosts for scheme in (parts.scheme, web)]
