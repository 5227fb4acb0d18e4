"""Runs conversation files and checks their expectations, as a command and as a pytest plugin."""
