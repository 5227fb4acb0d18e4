"""Input and output of a conversation in a terminal: a screen, a plain transcript, or JSON lines."""
