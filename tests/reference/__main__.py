"""Write the reference pages anew: ``python -m tests.reference``."""

import sys

from tests.reference.book import write_all
from tests.reference.names import ROOT

for page in write_all():
    sys.stdout.write(f"written: {page.relative_to(ROOT)}\n")
