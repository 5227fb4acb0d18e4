"""Bella Vista: the restaurant's agents, its order and its menu put together and served."""
