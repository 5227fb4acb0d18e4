"""A page on an application's state: the methods that clients in a room call, for any state and its commands.

A framework package: it knows no application. An application declares a ``PageSpec``; a ``Session`` is one call as
clients see it, and ``PageMethods`` are the gateway's methods over it.
"""

from rpc.page.contract import ERRORS, MethodForm, contract, method_forms, push_forms
from rpc.page.forms import LONGEST_SAID, PROTOCOL, MicrophoneMode, Shown
from rpc.page.lines import Lines, SpokenLine
from rpc.page.methods import CALLS_KEPT, Again, Bind, PageMethods
from rpc.page.objects import NotFound, wrong
from rpc.page.session import (
    CallOver,
    Conversation,
    Listeners,
    Recording,
    Saying,
    Session,
    Spoken,
    Store,
    Turns,
)
from rpc.page.spec import ObjectType, PageFaults, PageMethod, PageSpec, StateObject

__all__ = [
    "CALLS_KEPT",
    "ERRORS",
    "LONGEST_SAID",
    "PROTOCOL",
    "Again",
    "Bind",
    "CallOver",
    "Conversation",
    "Lines",
    "Listeners",
    "MethodForm",
    "MicrophoneMode",
    "NotFound",
    "ObjectType",
    "PageFaults",
    "PageMethod",
    "PageMethods",
    "PageSpec",
    "Recording",
    "Saying",
    "Session",
    "Shown",
    "Spoken",
    "SpokenLine",
    "StateObject",
    "Store",
    "Turns",
    "contract",
    "method_forms",
    "push_forms",
    "wrong",
]
