"""Prepares the fork server, the process that job processes are forked from; every worker preloads this.

It loads the machine's certificates for all calls. It ignores SIGTERM, which systemd sends to all
processes of a service: calls would be cut off if the fork server ended. It ends by itself when the
worker's end of its pipe closes.
"""

import signal
import sys

# livekit-agents 1.8.9 caches the context under this private name; every call's server API needs it.
from livekit.agents.utils.http_context import _create_ssl_context

_create_ssl_context()

# Only in the fork server: a worker, which may import this module too, has to handle the signal.
if any("multiprocessing.forkserver" in argument for argument in sys.orig_argv):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
