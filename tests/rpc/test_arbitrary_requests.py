"""Whatever a client sends, it is answered in a form of the contract, and nothing goes wrong inside."""

import asyncio
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rpc.page import method_forms
from rpc.page.contract import ANY_CALL
from rpc.page.objects import OPERATIONS
from rpc.restaurant import ORDER_PAGE
from tests.rpc.counter import ADA, COOK, Counter, Refusal
from tests.rpc.test_agent_state import SENT
from tests.state.properties.effort import tried

METHODS = method_forms(ORDER_PAGE)
TYPES = [*ORDER_PAGE.objects]
OPS = ORDER_PAGE.ops

_odd = st.sampled_from(
    ["", "L1", "l1 ", "id-1", "o-1", "tip", "pickup", "cash", "Water", "Pizza", "\u0000", "\u202e"]
    + ["é" * 300, "4111 1111 1111 1111", "../../etc", "__proto__", "x.0", "2026-11-20T21:00", "TEN"]
    + [None, True, False, 0, 1, -1, 5, 2**53, 2**53 + 1, 10**30, 1.5, -0.0, 1e300]
)
_values = st.recursive(
    _odd,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "quantity", "op", "", "total"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
_names = st.sampled_from(
    sorted({field for kind in OPS.values() for field in kind.model_fields})
    + ["unit_price", "__class__"]
)
_fields = st.dictionaries(_names, _values, max_size=4) | st.sampled_from([*SENT.values()])


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, Any]:
    method = draw(st.sampled_from([*METHODS, "agent.state", "order.apply", "agent.state"]))
    payload: dict[str, Any] = {}
    if method == "agent.state":
        payload = {
            "operation": draw(st.sampled_from(OPERATIONS) | _odd),
            "object_type": draw(st.sampled_from(TYPES) | _odd),
            "data": draw(_fields | st.none()),
        }
    if method == "order.apply":
        op = draw(st.sampled_from([*OPS]) | _odd)
        payload = {"command": {**draw(_fields), "op": op}}
    for field in METHODS[method].request.model_fields:
        if field not in payload and draw(st.booleans()):
            payload[field] = draw(_values)
    if draw(st.integers(0, 9)) == 0:
        payload[draw(_names)] = draw(_values)
    return method, payload


@tried(50)
@given(st.lists(calls(), min_size=5, max_size=25), st.sampled_from([ADA, COOK]))
def test_every_answer_is_one_of_the_contract(todo: list[tuple[str, Any]], who: str) -> None:
    async def follow() -> None:
        counter = Counter()
        for method, payload in todo:
            before, version = counter.order, counter.shared.version
            try:
                reply = await counter.call(method, json.dumps(payload), who)
            except Refusal as refused:
                told, possible = refused.told, {*ANY_CALL, *METHODS[method].errors}
            else:
                told, possible = reply.get("error", {"code": 0}), {0, *METHODS[method].in_reply}
            assert told["code"] in possible, (method, payload, told)
            assert told["code"] not in (5000, 5003, 5004), (method, payload, told)
            assert "4111 1111" not in json.dumps(told)
            if told["code"]:
                assert (counter.order, counter.shared.version) == (before, version)
        assert "4111 1111" not in counter.order.model_dump_json()

    asyncio.run(follow())
