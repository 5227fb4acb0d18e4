"""The ``join`` command: a user in a room, from the terminal."""
