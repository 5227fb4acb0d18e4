"""Reads YAML files written by people: values with their line numbers, and faults that name the line.

A framework package: it knows no application.
"""
