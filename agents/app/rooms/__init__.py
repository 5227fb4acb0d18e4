"""Calls in LiveKit rooms: the bound user, the state of the call, and its length."""
