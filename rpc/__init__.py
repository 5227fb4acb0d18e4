"""The order as clients see it: what they can call, what they are told, and who may."""
