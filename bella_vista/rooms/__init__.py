"""Calls in LiveKit rooms: who the guest is, which order the call is about, and how long it lasts."""
