"""The errors of the web server: ``{"error": {"type", "detail"}}`` with an HTTP status."""

from collections.abc import Mapping
from http import HTTPStatus

from pydantic import JsonValue
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

API = "/api/"
"""The path below which every response is JSON."""

NO_STORE: Mapping[str, str] = {"Cache-Control": "no-store"}
"""The header of responses that must not be cached."""

TYPES: Mapping[int, str] = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    409: "conflict",
    413: "too_large",
    421: "misdirected",
    429: "too_many_requests",
    431: "too_large",
    500: "internal",
    503: "unavailable",
}
"""The type of each status's errors."""


class WebError(HTTPException):
    """A request is refused.

    Args:
        status: The HTTP status; the error's type follows from it.
        detail: The explanation for the developer of a page; it never contains data of the request.
        kind: Another type than the status's own.
        headers: Headers of the response.
        more: Further fields of the error.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        kind: str | None = None,
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, JsonValue] | None = None,
    ) -> None:
        super().__init__(status, detail, headers)
        self.kind = kind or TYPES[status]
        self.more = more or {}


def error_response(error: HTTPException) -> Response:
    """Write an error as JSON."""
    if not isinstance(error, WebError):  # the framework's own: an unknown path, a wrong method
        status = error.status_code
        error = WebError(
            status, error.detail, kind=TYPES.get(status, "failed"), headers=error.headers
        )
    body = {"error": {"type": error.kind, "detail": error.detail, **error.more}}
    headers = {**(error.headers or {}), **NO_STORE}
    return JSONResponse(body, error.status_code, headers=headers)


async def on_http_exception(request: Request, error: Exception) -> Response:
    """Respond to an error: as JSON below ``/api/``, else as one line of text."""
    if not isinstance(error, HTTPException):
        error = WebError(500, "The server failed: try again in a moment; its log says why.")
    if request.url.path.startswith(API):
        return error_response(error)
    phrase = HTTPStatus(error.status_code).phrase
    return PlainTextResponse(f"{phrase}\n", error.status_code, headers=error.headers)
