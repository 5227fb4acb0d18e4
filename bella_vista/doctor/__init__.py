"""``python -m bella_vista doctor``: everything a call needs, looked at one by one, and what to do about it.

It changes nothing, and shows no secret.
"""

from bella_vista.doctor.command import run_doctor

__all__ = ["run_doctor"]
