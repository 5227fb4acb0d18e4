"""Workers: what takes calls from a LiveKit server, replaces what is lost, and is reloaded while it serves."""

from bella_vista.serving.replacing import LostPlace, replace_this_job
from bella_vista.serving.sending import MOST_TRIES
from bella_vista.serving.worker import Worker, make_server

__all__ = ["MOST_TRIES", "LostPlace", "Worker", "make_server", "replace_this_job"]
