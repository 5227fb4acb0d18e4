"""Bella Vista: the restaurant's agents, order and menu as one application."""
