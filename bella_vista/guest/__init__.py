"""A guest in a room of a LiveKit server, from the terminal: what any client does, and no more than it may."""
