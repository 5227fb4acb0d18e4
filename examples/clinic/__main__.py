"""The clinic's command line: ``python -m examples.clinic``."""

from examples.clinic.app import APP

if __name__ == "__main__":
    APP.cli()
