"""Reads YAML files written by people: values with their line numbers, and faults that name the line.

Also the faults of a program's declaration: ``program_faults``.

A framework package: it knows no application.
"""
