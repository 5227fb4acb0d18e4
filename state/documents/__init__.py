"""YAML files as people write them: values that know their lines, and faults that name them.

A framework package: it knows no application.
"""
