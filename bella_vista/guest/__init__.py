"""The ``join`` command: a guest in a room, from the terminal."""
