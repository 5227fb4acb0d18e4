"""One declaration of an application, and everything that serves it: terminal, rooms, worker, replay.

A framework package: it knows no restaurant. Applications are built on it.
"""
