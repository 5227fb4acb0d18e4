"""What guests say at the end of an order, in their own words, is written down and changes no food."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.bella_vista.local.closing import faults_of, lines

HELD = [line for line in lines()[::2] if not line.get("open")]


@pytest.mark.parametrize("line", HELD, ids=lambda line: f"{line['at']}: {line['say'][:50]!a}")
async def test_it_is_written_down(line: Mapping[str, Any]) -> None:
    assert await faults_of(line) == []
