"""Checks whether a worker can bind its ports."""

import socket
from contextlib import closing, suppress

import aiohttp

from agents.app.doctor.findings import ANSWER_TIMEOUT, Finding, fault, ok
from agents.app.settings import AppSettings


async def check_ports(settings: AppSettings) -> list[Finding]:
    """Check a worker's ports; a running worker of ours may have them."""
    findings = [
        await _check_port(
            settings, "health port", settings.health_port, settings.variable("health_port")
        )
    ]
    if settings.metrics_port is not None:
        findings.append(
            await _check_port(
                settings, "metrics port", settings.metrics_port, settings.variable("metrics_port")
            )
        )
    return findings


async def _check_port(settings: AppSettings, about: str, port: int, variable: str) -> Finding:
    host = settings.health_host
    if port == 0:
        return ok(about, "any free port")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with closing(socket.socket(family, socket.SOCK_STREAM)) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except OSError as error:
        if await _is_a_worker(settings):
            return ok(about, f"{port}: in use by a running worker")
        return fault(about, f"{host}:{port} cannot be bound ({error.strerror}): set {variable}")
    return ok(about, f"{port} is free")


async def _is_a_worker(settings: AppSettings) -> bool:
    """Whether a worker of ours answers on the health port."""
    host = "127.0.0.1" if settings.health_host == "0.0.0.0" else settings.health_host
    with suppress(aiohttp.ClientError, TimeoutError, OSError, ValueError):
        async with (
            aiohttp.ClientSession(timeout=ANSWER_TIMEOUT) as session,
            session.get(f"http://{host}:{settings.health_port}/worker") as answer,
        ):
            told = await answer.json(content_type=None)
            return isinstance(told, dict) and told.get("agent_name") == settings.agent_name
    return False
