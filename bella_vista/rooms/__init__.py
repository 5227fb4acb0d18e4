"""A call in a LiveKit room: who the guest is, which order it is about, and how long it lasts."""
