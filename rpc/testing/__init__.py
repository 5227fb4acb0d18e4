"""A fake room without a server, and an application's page without a room; clients are controlled by a test."""

from rpc.testing.agent import FakeAgent
from rpc.testing.client import Answer, FakeClient, Received
from rpc.testing.clock import FakeClock
from rpc.testing.page import CallRefused, FakeConversation, FakePage, FakeTurns
from rpc.testing.room import FakeRoom, RoomError
from rpc.testing.service import FakeService

__all__ = [
    "Answer",
    "CallRefused",
    "FakeAgent",
    "FakeClient",
    "FakeClock",
    "FakeConversation",
    "FakePage",
    "FakeRoom",
    "FakeService",
    "FakeTurns",
    "Received",
    "RoomError",
]
