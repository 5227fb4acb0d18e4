"""Checks what the web server needs, where one is configured."""

import socket
from contextlib import closing, suppress

import aiohttp

from agents.app.app import AnyApp
from agents.app.doctor.findings import ANSWER_TIMEOUT, Finding, fault, ok, warning
from agents.app.settings import AppSettings


async def check_web(app: AnyApp, settings: AppSettings) -> list[Finding]:
    """Check the page, the port and the password of staff; nothing if no setting of the web server is set."""
    if not any(name.startswith(("web_", "staff_")) for name in settings.model_fields_set):
        return []
    findings = [_check_page(app, settings), await _check_port(settings)]
    if settings.staff_password_hash is not None:
        findings.append(_check_hash(settings))
    return findings


def _check_page(app: AnyApp, settings: AppSettings) -> Finding:
    folder = settings.web_page or app.web.page
    if folder is None:
        variable = settings.variable("web_page")
        return warning("web page", f"none: `web` serves its endpoints only; set {variable}")
    if not (folder / "index.html").is_file():
        return warning("web page", f"{folder} has no index.html: build the page")
    return ok("web page", f"it is in {folder}")


async def _check_port(settings: AppSettings) -> Finding:
    host, port = settings.web_host, settings.web_port
    if port == 0:
        return ok("web port", "any free port")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with closing(socket.socket(family, socket.SOCK_STREAM)) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except OSError as error:
        if await _answers(settings):
            return ok("web port", f"{port}: in use by a running web server")
        where = f"{settings.variable('web_host')}, {settings.variable('web_port')}"
        return fault("web port", f"{host}:{port} cannot be opened ({error.strerror}): set {where}")
    return ok("web port", f"{port} is free")


async def _answers(settings: AppSettings) -> bool:
    host = "127.0.0.1" if settings.web_host == "0.0.0.0" else settings.web_host
    with suppress(aiohttp.ClientError, TimeoutError, OSError, ValueError):
        async with (
            aiohttp.ClientSession(timeout=ANSWER_TIMEOUT) as session,
            session.get(f"http://{host}:{settings.web_port}/healthz") as answer,
        ):
            told = await answer.json(content_type=None)
            return isinstance(told, dict) and told.get("status") == "ok"
    return False


def _check_hash(settings: AppSettings) -> Finding:
    from argon2 import extract_parameters
    from argon2.exceptions import InvalidHashError

    password, variable = settings.staff_password_hash, settings.variable("staff_password_hash")
    try:
        extract_parameters(password.get_secret_value() if password is not None else "")
    except InvalidHashError:
        return fault("staff", f"{variable} is no password hash: make one with `staff-password`")
    return ok("staff", "the password's hash can be used")
