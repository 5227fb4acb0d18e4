"""The files of a built page."""

import asyncio
import gzip
import os
from collections.abc import Callable
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

_IMMUTABLE = "public, max-age=31536000, immutable"
_NO_CACHE = "private, no-cache"
"""For pages: proxies must not cache them, since the response sets one user's cookie."""
_COMPRESSIBLE = ("text/", "application/json", "application/javascript", "image/svg+xml")

OnDocument = Callable[[Request, Response], None]
"""Called with a request for the page itself, and its response."""


class PageFiles(StaticFiles):
    """The files of a page that a bundler has built; ``/staff`` is the file ``staff.html``.

    Files below ``assets/`` have a hash of their content in their names, so browsers cache them for good. Text
    files are compressed once, and cached in memory.

    Args:
        on_document: Called with each response that is an HTML document.
    """

    def __init__(self, folder: Path, on_document: OnDocument) -> None:
        super().__init__(directory=folder, html=True)
        self._on_document = on_document
        self._compressed: dict[tuple[str, float], bytes] = {}

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Find a file; a path without an extension also finds the HTML document of that name."""
        found, stat = super().lookup_path(path)
        if stat is None and path and "." not in Path(path).name:
            return super().lookup_path(f"{path}.html")
        return found, stat

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Answer a request."""
        response = await super().get_response(path, scope)
        if isinstance(response, FileResponse) and _accepts_gzip(response, scope):
            response = await asyncio.to_thread(self._compress, response)
        if Path(path).parts[:1] == ("assets",):
            response.headers["Cache-Control"] = _IMMUTABLE
        else:
            response.headers["Cache-Control"] = _NO_CACHE
            if response.headers.get("content-type", "").startswith("text/html"):
                self._on_document(Request(scope), response)
        return response

    def _compress(self, file: FileResponse) -> Response:
        path = Path(file.path)
        key = (str(path), path.stat().st_mtime)
        body = self._compressed.get(key)
        if body is None:
            body = self._compressed[key] = gzip.compress(path.read_bytes(), mtime=0)
        copied = ("last-modified", "content-type")
        headers = {name: file.headers[name] for name in copied}
        headers |= {"ETag": f"W/{file.headers['etag']}", "Content-Encoding": "gzip"}
        return Response(body, headers={**headers, "Vary": "Accept-Encoding"})


def _accepts_gzip(file: FileResponse, scope: Scope) -> bool:
    headers = Headers(scope=scope)
    return (
        file.status_code == 200
        and scope["method"] == "GET"
        and "range" not in headers
        and "gzip" in headers.get("accept-encoding", "")
        and file.headers.get("content-type", "").startswith(_COMPRESSIBLE)
    )


def no_page(folder: Path | None, command: str) -> Callable[[Request], Response]:
    """Return the answer of a server without a built page.

    Args:
        folder: Where the page would be.
        command: The command line of the server.
    """
    where = "The application names no page." if folder is None else f"No page is built in {folder}."
    text = (
        f"{where}\n\nThe token endpoint is POST /api/token: any LiveKit client can use it."
        f"\nTo serve a page: {command} web --page FOLDER, with an index.html in it.\n"
    )
    return lambda request: PlainTextResponse(text)
