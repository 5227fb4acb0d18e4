"""What every test of the restaurant's rooms may rely on: the fixtures of ``tests.agents.app.rooms``."""

from tests.agents.app.rooms.conftest import calls, changed, house, restaurant, running, worker

__all__ = ["calls", "changed", "house", "restaurant", "running", "worker"]
