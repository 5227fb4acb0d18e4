"""How calls from clients reach a state: who may call, how often, how big, how strictly read; and what is pushed.

Knows no restaurant: an application gives it methods over a ``SharedState``.
"""

from rpc.gateway.errors import (
    BadJson,
    BadParams,
    ErrorObject,
    Forbidden,
    RateLimited,
    Rejected,
    TooLarge,
    UnknownOperation,
    VersionDemanded,
    told,
)
from rpc.gateway.method import GUEST, STAFF, AnyMethod, Caller, Method, Request

__all__ = [
    "GUEST",
    "STAFF",
    "AnyMethod",
    "BadJson",
    "BadParams",
    "Caller",
    "ErrorObject",
    "Forbidden",
    "Method",
    "RateLimited",
    "Rejected",
    "Request",
    "TooLarge",
    "UnknownOperation",
    "VersionDemanded",
    "told",
]
