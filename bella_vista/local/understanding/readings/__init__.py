"""Readings: the items that a search found in a message."""
