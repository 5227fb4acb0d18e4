"""Prepares the process from which the processes of calls are forked; every worker's preloads it.

It reads the machine's certificates, so that calls find them read, and ignores SIGTERM: systemd
sends it to all processes of a service, and without this one its calls would be cut. It ends by
itself when the worker's end of its pipe closes.
"""

import signal
import sys

# It has no public name; livekit-agents 1.8.9 keeps the context, and every call's server API needs it.
from livekit.agents.utils.http_context import _create_ssl_context

_create_ssl_context()

# Other processes may import this module as well: a worker has to go on handling the signal.
if any("multiprocessing.forkserver" in argument for argument in sys.orig_argv):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
