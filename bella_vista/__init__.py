"""Bella Vista: the restaurant's voices, its order and its menu put together and served."""
