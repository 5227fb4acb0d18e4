"""Every test of the matrix runs in virtual time."""

from collections.abc import Callable, Mapping

from tests.virtual_time import JumpingLoop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], JumpingLoop]]:
    return {"virtual": JumpingLoop}
