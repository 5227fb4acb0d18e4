"""The order over RPC: the methods clients call, the pushes they receive, and who may call what."""
