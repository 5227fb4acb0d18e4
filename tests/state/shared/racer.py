"""A process of its own that tries to get a hundred places, for the tests to run against others.

    python -m tests.state.shared.racer URL HOLDER

Says ``ready``, waits for a line, and then prints the number of each place it got.
"""

import asyncio
import sys

from state.shared import LeaseHeld, SqlStore
from tests.state.shared.patience import be_patient


async def race(url: str, holder: str) -> None:
    async with SqlStore(url, owner="club", schema=1) as store:
        await store.list()
        tell("ready")
        await asyncio.to_thread(sys.stdin.readline)
        for number in range(100):
            try:
                await store.leases.take(str(number), holder, seconds=60)
            except LeaseHeld:
                continue
            tell(str(number))


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    be_patient()
    asyncio.run(race(*sys.argv[1:]))
