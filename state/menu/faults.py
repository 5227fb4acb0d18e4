"""The error of a menu that cannot be used."""

from state.documents.faults import DocumentFaults


class MenuFaults(DocumentFaults):
    """The menu cannot be used: every fault that was found, in the order of the file."""
