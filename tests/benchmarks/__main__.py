"""``python -m tests.benchmarks``: what this framework costs beside plain livekit-agents, as tables.

Takes less than fifteen minutes on two cores. Figures want a machine that does nothing else.
"""

import argparse
import logging
import sys
import time
from pathlib import Path

from tests.benchmarks.plan import FULL, GROUPS, QUICK
from tests.benchmarks.report import Table, as_text, budgets, machine, tally, write_page


def main(arguments: list[str]) -> None:
    """Measure, write each table when it is there, and count the budgets at the end."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "groups", nargs="*", metavar="GROUP", help=f"only some of {', '.join(GROUPS)}"
    )
    parser.add_argument("--quick", action="store_true", help="a few rounds, to see that it runs")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the tables there as well"
    )
    asked = parser.parse_args(arguments)
    if unknown := set(asked.groups) - set(GROUPS):
        parser.error(f"there is no group {', '.join(sorted(unknown))}")
    sys.stdout.write(f"{machine()}\n\n")
    plan = QUICK if asked.quick else FULL
    tables: list[Table] = []
    for name in asked.groups or GROUPS:
        start = time.monotonic()
        measured = GROUPS[name](plan)
        tables += measured
        for table in measured:
            sys.stdout.write(f"{as_text(table)}\n")
        sys.stderr.write(f"({name}: {time.monotonic() - start:.0f} s)\n")
        sys.stdout.flush()
    if asked.markdown is not None:
        write_page(asked.markdown, tables)
    sys.stdout.write(f"{as_text(budgets(tables))}\n")
    if asked.quick:
        sys.stdout.write(
            "A quick run shows that everything runs; its figures and verdicts mean nothing.\n"
        )
    sys.stdout.write(f"{tally(tables)}\n")


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main(sys.argv[1:])
