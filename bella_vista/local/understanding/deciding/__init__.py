"""Accounts for what was said, and decides between readings."""
