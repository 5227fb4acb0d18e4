"""The agents of the restaurant and, below ``handoff``, how any agents hand over to one another."""
