"""Workers: what takes calls from a LiveKit server, replaces what is lost, and is reloaded while it serves."""
