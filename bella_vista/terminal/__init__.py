"""What a conversation looks like from a terminal: a screen, a plain transcript, or JSON lines."""
