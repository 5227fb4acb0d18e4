"""The error of a menu that cannot be used."""

from state.documents.faults import DocumentFaults


class MenuFaults(DocumentFaults):
    """The menu cannot be used: all its faults, in the order of the file."""
