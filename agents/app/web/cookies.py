"""The signed cookie that brings the same user back to the same room."""

import re
from dataclasses import dataclass, replace
from secrets import token_hex

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from agents.app.join.room_access import new_identity, new_room

DAYS = 30
"""How long a browser keeps the cookie, in days, from the last time it was set."""

_MAX_AGE_S = DAYS * 24 * 3600
_MAX_VISITORS = 4
"""The most visitors that one request may have."""
_MAX_COOKIES = 16
"""The most cookies of one request whose signatures are checked."""

_ID = re.compile(r"[a-z]+-[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Visitor:
    """A user of the page, as their cookie identifies them.

    Args:
        identity: Their identity in rooms; the state belongs to it.
        room: Their room.
    """

    identity: str
    room: str

    @staticmethod
    def new() -> "Visitor":
        """Make a new visitor with an identity and a room that cannot be guessed."""
        return Visitor(new_identity(), new_room())

    def with_new_room(self) -> "Visitor":
        """Return the same user with a new room."""
        return replace(self, room=new_room())


@dataclass(frozen=True, slots=True)
class KnownVisitor:
    """A visitor that a cookie names.

    Args:
        cookie: The cookie's name.
    """

    cookie: str
    visitor: Visitor


class VisitorCookie:
    """Writes and reads the cookie.

    Nothing is stored here: the cookie holds the identity and the room, and a signature. Changing the
    secret invalidates all of them.

    A page may request two tokens before it has a cookie. Each response then sets a cookie with its own name, so
    the browser keeps both, and a later request shows which of the two was used.

    Args:
        name: The start of the cookie's name.
        application: The application's name: the cookies of others are not accepted.
        shared_with: The origins of pages on other sites that may call with the cookie.
    """

    def __init__(
        self, name: str, secret: str, application: str, shared_with: frozenset[str] = frozenset()
    ) -> None:
        self._name = name
        self._signer = URLSafeTimedSerializer(secret, salt=f"{application} visitor 1")
        self._shared_with = shared_with

    def read(self, request: Request) -> list[KnownVisitor]:
        """Return the visitors of a request's valid cookies.

        There is more than one only if the first two requests came at once.
        """
        ours = sorted(
            name
            for name in request.cookies
            if name == self._name or name.startswith(f"{self._name}_")
        )
        found = [
            KnownVisitor(name, visitor)
            for name in ours[:_MAX_COOKIES]
            if (visitor := self._visitor(request.cookies[name])) is not None
        ]
        return found[:_MAX_VISITORS]

    def _visitor(self, written: str) -> Visitor | None:
        try:
            identity, room = self._signer.loads(written, max_age=_MAX_AGE_S)
        except (BadSignature, ValueError, TypeError):
            return None
        if not (_ID.fullmatch(str(identity)) and _ID.fullmatch(str(room))):
            return None
        return Visitor(str(identity), str(room))

    def new(self, *, alone: bool) -> KnownVisitor:
        """Make a new visitor.

        Args:
            alone: Whether no other request of this browser can be under way.
        """
        name = self._name if alone else f"{self._name}_{token_hex(4)}"
        return KnownVisitor(name, Visitor.new())

    def write(self, request: Request, response: Response, known: KnownVisitor) -> None:
        """Set the cookie: scripts cannot read it, and other sites cannot send it.

        A page of a listed origin on another site gets a cookie with ``SameSite=None``, which
        browsers accept only over https.
        """
        secure = request.url.scheme == "https"
        other_site = secure and request.headers.get("origin") in self._shared_with
        response.set_cookie(
            known.cookie,
            self._signer.dumps([known.visitor.identity, known.visitor.room]),
            max_age=_MAX_AGE_S,
            httponly=True,
            secure=secure,
            samesite="none" if other_site else "lax",
        )
