"""The ``doctor`` command: checks everything a call needs, and says how to fix what is wrong.

It changes nothing and shows no secret.
"""

from bella_vista.doctor.command import run_doctor

__all__ = ["run_doctor"]
