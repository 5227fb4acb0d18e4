"""The order as a client sees it; nothing is here yet, the RPC layer comes after the terminal."""
