"""The voices of the restaurant and, below ``handoff``, how any voices hand over to one another."""
