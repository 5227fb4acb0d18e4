"""Dispatches agents into rooms, and replaces lost ones."""
