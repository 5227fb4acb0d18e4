"""Calls in LiveKit rooms: leases, presence, media, chat, page updates, phone calls and transfers."""
