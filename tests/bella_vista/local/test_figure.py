"""The messages that serve to improve the local model stay understood."""

from collections import Counter
from pathlib import Path

import pytest

from tests.bella_vista.local.scoring import EXACT, SILENT, lines_of, understood, verdict

FIGURE = Path(__file__).parent / "figure"


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("folder", "exact", "silent"), [("crowd", 0.95, 0.013), ("kinds", 0.57, 0.095)]
)
def test_messages_stay_understood(folder: str, exact: float, silent: float) -> None:
    scores: Counter[str] = Counter()
    for path in sorted((FIGURE / folder).glob("lines-*.yaml")):
        for menu, line in lines_of(path, "even"):
            scores[verdict(menu, line, understood(menu, line))] += 1

    share = {kind: count / scores.total() for kind, count in scores.items()}
    assert share[EXACT] > exact
    assert share[SILENT] < silent
