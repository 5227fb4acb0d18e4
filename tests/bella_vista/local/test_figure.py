"""The messages that serve to improve the local model stay understood."""

from collections import Counter
from pathlib import Path

import pytest

from tests.bella_vista.local.scoring import EXACT, SILENT, lines_of, understood, verdict

CROWD = Path(__file__).parent / "figure" / "crowd"


@pytest.mark.timeout(300)
def test_ordinary_messages_are_understood() -> None:
    scores: Counter[str] = Counter()
    for path in sorted(CROWD.glob("lines-*.yaml")):
        for menu, line in lines_of(path, "even"):
            scores[verdict(menu, line, understood(menu, line))] += 1

    share = {kind: count / scores.total() for kind, count in scores.items()}
    assert share[EXACT] > 0.95
    assert share[SILENT] < 0.013
