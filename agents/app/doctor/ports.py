"""Checks whether ports can be bound and, where a web server is configured, whether it can run."""

import socket
from contextlib import closing, suppress
from dataclasses import dataclass

import aiohttp

from agents.app.app import AnyApp
from agents.app.doctor.findings import ANSWER_TIMEOUT, Finding, fault, ok, warning
from agents.app.settings import AppSettings


@dataclass(frozen=True)
class PortOwner:
    """A program of this application that may use a port: its JSON reply holds ``value`` under ``key``."""

    name: str
    host: str
    port: int
    path: str
    key: str
    value: str


async def check_ports(settings: AppSettings) -> list[Finding]:
    """Check a worker's ports; a running worker of this application may use them."""
    host, health = settings.health_host, settings.health_port
    worker = PortOwner("worker", host, health, "worker", "agent_name", settings.agent_name)
    return [
        await check_port(f"{kind} port", host, port, settings.variable(f"{kind}_port"), worker)
        for kind, port in (("health", health), ("metrics", settings.metrics_port))
        if port is not None
    ]


async def check_port(about: str, host: str, port: int, variables: str, ours: PortOwner) -> Finding:
    """Check one port.

    Args:
        about: Its name.
        host: The address that it is bound to.
        port: The port; 0 is any free one.
        variables: The settings to change.
        ours: The program of this application that may use it.
    """
    if port == 0:
        return ok(about, "any free port")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with closing(socket.socket(family, socket.SOCK_STREAM)) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except OSError as error:
        if await _is_running(ours):
            return ok(about, f"{port}: in use by a running {ours.name}")
        return fault(about, f"{host}:{port} cannot be bound ({error.strerror}): set {variables}")
    return ok(about, f"{port} is free")


async def _is_running(program: PortOwner) -> bool:
    host = "127.0.0.1" if program.host == "0.0.0.0" else program.host
    with suppress(aiohttp.ClientError, TimeoutError, OSError, ValueError):
        async with (
            aiohttp.ClientSession(timeout=ANSWER_TIMEOUT) as session,
            session.get(f"http://{host}:{program.port}/{program.path}") as answer,
        ):
            reply = await answer.json(content_type=None)
            return isinstance(reply, dict) and reply.get(program.key) == program.value
    return False


async def check_web(app: AnyApp, settings: AppSettings) -> list[Finding]:
    """Check the page, the ports and the staff password, if any setting of the web server is set."""
    if not any(name.startswith(("web_", "staff_")) for name in settings.model_fields_set):
        return []
    host, port = settings.web_host, settings.web_port
    server = PortOwner("web server", host, port, "healthz", "status", "ok")
    variables = f"{settings.variable('web_host')}, {settings.variable('web_port')}"
    findings = [
        _check_page(app, settings),
        await check_port("web port", host, port, variables, server),
    ]
    if (metrics := settings.web_metrics_port) is not None:
        variables = f"{settings.variable('health_host')}, {settings.variable('web_metrics_port')}"
        findings.append(
            await check_port("web metrics port", settings.health_host, metrics, variables, server)
        )
    if settings.staff_password_hash is not None:
        findings.append(_check_staff(app, settings))
    return findings


def _check_page(app: AnyApp, settings: AppSettings) -> Finding:
    folder = settings.web_page or app.web.page
    if folder is None:
        variable = settings.variable("web_page")
        return warning("web page", f"none: `web` serves its endpoints only; set {variable}")
    if not (folder / "index.html").is_file():
        return warning("web page", f"{folder} has no index.html: build the page")
    return ok("web page", f"it is in {folder}")


def _check_staff(app: AnyApp, settings: AppSettings) -> Finding:
    from argon2 import extract_parameters
    from argon2.exceptions import InvalidHashError

    password, variable = settings.staff_password_hash, settings.variable("staff_password_hash")
    try:
        extract_parameters(password.get_secret_value() if password is not None else "")
    except InvalidHashError:
        return fault("staff", f"{variable} is no password hash: make one with `staff-password`")
    role, roles = app.web.staff_role, app.page_spec.roles
    if role not in roles:
        names = ", ".join(roles)
        return warning(
            "staff",
            f'no command can be sent: there is no role "{role}", only {names}; set Web(staff_role=...)',
        )
    return ok("staff", f"the password's hash can be used, for the role {role}")
