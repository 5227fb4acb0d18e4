"""Checks whether ports can be bound."""

import socket
from contextlib import closing, suppress
from dataclasses import dataclass

import aiohttp

from agents.app.doctor.findings import ANSWER_TIMEOUT, Finding, fault, ok
from agents.app.settings import AppSettings


@dataclass(frozen=True)
class Program:
    """A program of ours that may have a port already: its answer holds this value under this key."""

    name: str
    host: str
    port: int
    path: str
    key: str
    value: str


async def check_ports(settings: AppSettings) -> list[Finding]:
    """Check a worker's ports; a running worker of ours may have them."""
    host, health = settings.health_host, settings.health_port
    worker = Program("worker", host, health, "worker", "agent_name", settings.agent_name)
    return [
        await check_port(f"{kind} port", host, port, settings.variable(f"{kind}_port"), worker)
        for kind, port in (("health", health), ("metrics", settings.metrics_port))
        if port is not None
    ]


async def check_port(about: str, host: str, port: int, variables: str, ours: Program) -> Finding:
    """Check one port.

    Args:
        about: Its name.
        host: The address that it is bound to.
        port: The port; 0 is any free one.
        variables: The settings to change.
        ours: The program that may have it.
    """
    if port == 0:
        return ok(about, "any free port")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with closing(socket.socket(family, socket.SOCK_STREAM)) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except OSError as error:
        if await _answers(ours):
            return ok(about, f"{port}: in use by a running {ours.name}")
        return fault(about, f"{host}:{port} cannot be bound ({error.strerror}): set {variables}")
    return ok(about, f"{port} is free")


async def _answers(program: Program) -> bool:
    host = "127.0.0.1" if program.host == "0.0.0.0" else program.host
    with suppress(aiohttp.ClientError, TimeoutError, OSError, ValueError):
        async with (
            aiohttp.ClientSession(timeout=ANSWER_TIMEOUT) as session,
            session.get(f"http://{host}:{program.port}/{program.path}") as answer,
        ):
            told = await answer.json(content_type=None)
            return isinstance(told, dict) and told.get(program.key) == program.value
    return False
