"""Every refusal of the order as those outside get it: its code, its sentence and its facts, compared whole."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from state import errors, stages
from state.commands import ORDER_COMMANDS, OrderCommand
from state.errors import OrderError
from state.order import OrderState
from tests.state.bistro import CARD, FRIDAY_AT_SEVEN, Bistro, card

Case: TypeAlias = Mapping[str, Any]

TABLE: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("refusals.yaml").read_text("utf-8")
)
REFUSALS: list[Case] = TABLE["refusals"]


def _name(case: Case) -> str:
    who = next(who for who in ("guest", "house", "agent") if who in case)
    return f"the {who} {case[who]}"


@pytest.mark.parametrize("case", REFUSALS, ids=_name)
def test_a_refusal_says_code_sentence_and_facts(case: Case) -> None:
    bistro = Bistro(
        _menu(case), datetime.fromisoformat(case.get("at", FRIDAY_AT_SEVEN.isoformat()))
    )
    order = bistro.order(*_commands(case.get("when")), *map(_command, case.get("after", ())))
    bistro.wait(**case.get("later", {}))

    refusal = _refusal(bistro, order, case)

    answer = {"code": refusal.code, "says": refusal.message, "facts": dict(refusal.facts)}
    assert _on_the_wire(answer) == _on_the_wire({key: case[key] for key in answer})


def test_the_table_has_every_code_there_is() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.code for kind in kinds if issubclass(kind, OrderError) and kind is not OrderError}

    assert {case["code"] for case in REFUSALS} == codes


def _refusal(bistro: Bistro, order: OrderState, case: Case) -> OrderError:
    if "condition" in case:
        answer = getattr(stages, case["condition"])(order)
        assert isinstance(answer, OrderError)
        return answer
    with pytest.raises(OrderError) as refused:
        bistro.after(order, _command(case["asked"]))
    return refused.value


def _on_the_wire(answer: Mapping[str, Any]) -> str:
    return json.dumps(answer, indent=1, sort_keys=True)  # 30 and 30.0 are two texts


def _commands(situation: str | None) -> list[OrderCommand]:
    if situation is None:
        return []
    described = TABLE["situations"][situation]
    return [*_commands(described.get("from")), *map(_command, described["commands"])]


def _command(fields: Mapping[str, Any]) -> OrderCommand:
    return ORDER_COMMANDS.validate_python(fields)


def _menu(case: Case) -> Any:
    text = CARD
    for old, new in case.get("menu", {}).items():
        assert old in text
        text = text.replace(old, new)
    return card(text)
