"""The agents of the restaurant and, below ``handoff``, the handoffs between any agents."""
