"""RPC gateway: authorization, rate and size limits, strict parsing of client calls, and pushes to clients.

Knows no application: it supplies methods over a ``SharedState`` and its own roles.
"""

from rpc.gateway.attributes import Attributes
from rpc.gateway.errors import (
    BadJson,
    BadParams,
    ErrorObject,
    Forbidden,
    NotYet,
    RateLimited,
    Rejected,
    TooLarge,
    UnknownOperation,
    VersionDemanded,
    error_object,
)
from rpc.gateway.gateway import Gateway, Limits
from rpc.gateway.history import View, Views
from rpc.gateway.method import STAFF, USER, AnyMethod, Caller, Method, Request
from rpc.gateway.mutes import Mutes, RoomService
from rpc.gateway.notices import EndNotices, TurnNotices
from rpc.gateway.notifier import Peer
from rpc.gateway.params import part
from rpc.gateway.push import Subscribers
from rpc.gateway.streams import STREAM_BYTES, cap_incoming, is_too_large
from rpc.gateway.strict_json import JsonText

__all__ = [
    "STAFF",
    "STREAM_BYTES",
    "AnyMethod",
    "Attributes",
    "BadJson",
    "BadParams",
    "Caller",
    "EndNotices",
    "ErrorObject",
    "Forbidden",
    "Gateway",
    "JsonText",
    "Limits",
    "Method",
    "Mutes",
    "NotYet",
    "Peer",
    "RateLimited",
    "Rejected",
    "Request",
    "RoomService",
    "Subscribers",
    "TooLarge",
    "USER",
    "TurnNotices",
    "UnknownOperation",
    "VersionDemanded",
    "View",
    "Views",
    "cap_incoming",
    "error_object",
    "is_too_large",
    "part",
]
