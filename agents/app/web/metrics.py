"""The web server's Prometheus metrics, on a port of their own."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

from agents.app.settings import AppSettings, SettingsFaults


class WebMetrics:
    """The web server's counters; no label holds data of a request.

    Args:
        prefix: The application's prefix, which begins the names.
    """

    def __init__(self, prefix: str) -> None:
        self._registry = CollectorRegistry()
        self.refused = Counter(
            f"{prefix}_web_requests_refused",
            "Requests that were refused",
            ["reason"],
            registry=self._registry,
        )
        self.tokens = Counter(
            f"{prefix}_web_tokens_issued", "Tokens that were issued", registry=self._registry
        )
        self.dispatches = Counter(
            f"{prefix}_web_dispatches", "Agents that were dispatched", registry=self._registry
        )
        self.boards = Gauge(
            f"{prefix}_web_boards_open", "Boards of staff that are open", registry=self._registry
        )

    @contextmanager
    def served(self, settings: AppSettings) -> Iterator[None]:
        """Serve the metrics within a context, if the settings name a port.

        Args:
            settings: The host and the port.

        Raises:
            SettingsFaults: The port cannot be opened.
        """
        host, port = settings.health_host, settings.web_metrics_port
        if port is None:
            yield
            return
        try:
            server, thread = start_http_server(port, host, self._registry)
        except OSError as error:
            where = f"{settings.variable('health_host')}, {settings.variable('web_metrics_port')}"
            raise SettingsFaults(
                [f"{where}: {host}:{port} cannot be opened ({error.strerror})"]
            ) from None
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
