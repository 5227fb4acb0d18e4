"""The command ``console``: a conversation in a terminal."""
