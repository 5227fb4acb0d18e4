"""Statements and questions beside the order: names, contacts, handover, payment, times, talk."""
