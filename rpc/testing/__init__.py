"""A fake room without a server: livekit's own RPC handling, with clients controlled by a test."""

from rpc.testing.agent import FakeAgent
from rpc.testing.client import Answer, FakeClient, Received
from rpc.testing.clock import FakeClock
from rpc.testing.room import FakeRoom, RoomError
from rpc.testing.service import FakeService

__all__ = [
    "Answer",
    "FakeAgent",
    "FakeClient",
    "FakeClock",
    "FakeRoom",
    "FakeService",
    "Received",
    "RoomError",
]
