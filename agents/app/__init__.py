"""One declaration of an application, and everything that serves it: terminal, rooms, worker, replay.

A framework package: it knows no application. Applications are built on it.
"""
