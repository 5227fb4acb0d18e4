"""Reads the machine's certificates in the process from which the processes of calls are forked: they find them read."""

# It has no public name; livekit-agents 1.8.9 keeps the context, and every call's server API needs it.
from livekit.agents.utils.http_context import _create_ssl_context

_create_ssl_context()
