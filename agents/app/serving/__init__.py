"""Workers: serve calls from a LiveKit server, replace lost agents, and reload without cutting calls off."""
