"""The RPC of clients in a room: the framework's gateway and page, and the restaurant's methods."""
