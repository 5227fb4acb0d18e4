"""A worker of the restaurant, as a process of its own."""
