"""Checks what the web server needs, where one is configured."""

from agents.app.app import AnyApp
from agents.app.doctor.findings import Finding, fault, ok, warning
from agents.app.doctor.ports import Program, check_port
from agents.app.settings import AppSettings


async def check_web(app: AnyApp, settings: AppSettings) -> list[Finding]:
    """Check the page, the ports and the password of staff; nothing if no setting of the web server is set."""
    if not any(name.startswith(("web_", "staff_")) for name in settings.model_fields_set):
        return []
    host, port = settings.web_host, settings.web_port
    server = Program("web server", host, port, "healthz", "status", "ok")
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


def _check_hash(settings: AppSettings) -> Finding:
    from argon2 import extract_parameters
    from argon2.exceptions import InvalidHashError

    password, variable = settings.staff_password_hash, settings.variable("staff_password_hash")
    try:
        extract_parameters(password.get_secret_value() if password is not None else "")
    except InvalidHashError:
        return fault("staff", f"{variable} is no password hash: make one with `staff-password`")
    return ok("staff", "the password's hash can be used")
