"""Joining, and words that are neither lost nor heard twice."""

import asyncio

import pytest

from rpc.gateway import Caller, Forbidden
from rpc.page import CALLS_KEPT, PageMethods, Session
from rpc.page.forms import HelloRequest, SayReply, SayRequest
from rpc.page.session import MOST_KEYS
from rpc.restaurant import GUEST, ORDER_PAGE, STAFF
from state.shared import NotStored
from tests.agents.restaurant import restaurant
from tests.rpc.counter import ADA, COOK, STRANGER, Counter

GUEST_CALLER = Caller(ADA, GUEST)


async def test_hello_returns_the_state_of_the_call_and_a_resume_code() -> None:
    counter = Counter()
    await counter.apply("add_item", name="Water")
    await counter.call("say", {"text": "hello"})

    assert await counter.call("hello") == {
        "protocol": 1,
        "agent": "bella-vista",
        "features": [*ORDER_PAGE.all_features],
        "order_id": "o-1",
        "version": 1,
        "active_agent": "greeter",
        "turn": 1,
        "resume_code": "abcd-efgh-jkmn",
        "last_order": [],
    }


async def test_staff_and_strangers_are_not_told_how_to_come_back_as_the_guest() -> None:
    counter = Counter()

    assert (await counter.call("hello", who=COOK))["resume_code"] is None
    refused = await counter.refused("hello", who=STRANGER)
    assert refused["code"] == 4003
    assert "version" not in refused


async def test_hello_waits_until_the_guest_is_known() -> None:
    counter = Counter()
    decided = asyncio.Event()

    async def bind(caller: Caller) -> None:
        await decided.wait()

    methods = PageMethods(ORDER_PAGE, bind)
    hello = next(method for method in methods.methods() if method.name == "hello")
    waiting = asyncio.ensure_future(hello.answer(HelloRequest(), Caller(ADA, None)))
    await asyncio.sleep(0)
    assert not waiting.done()

    methods.open(counter.session, counter)
    decided.set()

    reply = await waiting
    assert reply.model_dump()["resume_code"] == "abcd-efgh-jkmn"


@pytest.mark.parametrize(
    ("method", "payload"),
    [
        ("hello", {}),
        ("say", {"text": "hello"}),
        ("get_order_state", {}),
        ("get_menu", {}),
        ("order.apply", {"command": {"op": "add_item", "name": "Water"}}),
        ("order.subscribe", {}),
        ("agent.state", {"operation": "list"}),
    ],
)
async def test_calls_before_and_after_the_order_are_refused(
    method: str, payload: dict[str, str]
) -> None:
    counter = Counter(open_at_once=False)
    assert (await counter.refused(method, payload))["code"] == 4003

    counter.methods.open(counter.session, counter)
    await counter.call(method, payload)

    counter.methods.close()
    assert (await counter.refused(method, payload))["code"] == 4003


@pytest.mark.parametrize("method", ["say", "get_order_state", "get_menu", "agent.state"])
async def test_a_stranger_learns_nothing(method: str) -> None:
    refused = await Counter().refused(method, {"text": "x"}, who=STRANGER)

    assert refused["code"] == 4003
    assert refused["facts"] == {}
    assert "version" not in refused


# -- say --------------------------------------------------------------------------------------------


async def test_words_are_accepted_and_counted() -> None:
    counter = Counter()

    first = await counter.call("say", {"text": "  two\u202e Margheritas,\n please "})
    second = await counter.call("say", {"text": "and a Cola"})

    assert counter.conversation.heard == ["two Margheritas, please", "and a Cola"]
    assert (first, second) == ({"turn": 1}, {"turn": 2})


async def test_the_same_key_is_said_once() -> None:
    counter = Counter()

    replies = await asyncio.gather(
        *(counter.call("say", {"text": "a Cola", "key": "k"}) for _ in range(5))
    )
    await counter.call("say", {"text": "a Cola"})
    again = await counter.call("say", {"text": " a  Cola ", "key": "k"})

    assert counter.conversation.heard == ["a Cola", "a Cola"]
    assert [*replies, again] == [{"turn": 1}] * 6


async def test_a_key_is_of_one_saying() -> None:
    counter = Counter()
    await counter.call("say", {"text": "a Cola", "key": "k"})

    refused = await counter.refused("say", {"text": "two Colas", "key": "k"})

    assert (refused["code"], refused["type"]) == (4011, "key_reused")
    assert counter.conversation.heard == ["a Cola"]


async def test_keys_of_say_do_not_accumulate() -> None:
    counter = Counter()
    for number in range(MOST_KEYS + 1):
        await counter.session.say(str(number), GUEST_CALLER, str(number))

    assert await counter.session.say(str(MOST_KEYS), GUEST_CALLER, str(MOST_KEYS)) == MOST_KEYS + 1
    assert (
        await counter.session.say("0", GUEST_CALLER, "0") == MOST_KEYS + 2
    )  # forgotten, so said again


@pytest.mark.parametrize("text", ["", "  \n ", "\u200b\u202e", "x" * 1001, 5, None, ["a"]])
async def test_invalid_words_are_refused(text: object) -> None:
    counter = Counter()

    refused = await counter.refused("say", {"text": text})

    assert (refused["code"], refused["facts"]["field"]) == (4001, "text")
    assert counter.conversation.heard == []


async def test_a_long_saying_is_taken_in_as_a_whole() -> None:
    counter = Counter()

    await counter.call("say", {"text": "é" * 1000})

    assert counter.conversation.heard == ["é" * 1000]


async def test_staff_do_not_speak_for_the_guest() -> None:
    counter = Counter()

    assert (await counter.refused("say", {"text": "a tip, please"}, who=COOK))["code"] == 4003
    assert counter.conversation.heard == []


async def test_after_the_end_words_are_refused() -> None:
    counter = Counter()
    await counter.call("say", {"text": "bye", "key": "k"})
    counter.conversation.over = True

    refused = await counter.refused("say", {"text": "hello?", "key": "l"})

    assert (refused["code"], refused["reason"]) == (4022, "call_over")
    assert "over" in refused["detail"]
    # What was taken in before the end is still answered the same.
    assert await counter.call("say", {"text": "bye", "key": "k"}) == {"turn": 1}


async def test_a_call_hears_what_is_said_without_a_card_number() -> None:
    call = restaurant()
    order_session = Session(ORDER_PAGE, call.shared, call, state_id="o-1", agent="bella-vista")

    assert await order_session.say("my card is 4111 1111 1111 1111", GUEST_CALLER, "k") == 1
    assert call.turns.queued == ["my card is [card]"]
    call.end("agent_ended")
    with pytest.raises(Exception, match="over"):
        await order_session.say("hello?", GUEST_CALLER, None)
    assert order_session.views.present()[1]["active_agent"] == call.speaker
    order_session.close()


class Slow:
    """A saying that no database answers.

    Args:
        begun: Whether its writing has begun.
    """

    def __init__(self, *, begun: bool) -> None:
        self.turn: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self._begun = begun

    def withdraw(self) -> bool:
        if not self._begun:
            self.turn.set_exception(NotStored("the database is busy"))
        return not self._begun


@pytest.mark.parametrize(
    ("begun", "code", "kind"), [(False, 5003, "unavailable"), (True, 5004, "outcome_unknown")]
)
async def test_words_not_stored_in_time_get_the_true_error(
    begun: bool, code: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rpc.page.session.SAY_S", 0.01)
    counter, slow = Counter(), list[Slow]()

    def store(text: str, key: str | None, digest: str) -> Slow:
        slow.append(Slow(begun=begun))
        return slow[-1]

    order_session = Session(
        ORDER_PAGE,
        counter.shared,
        counter.conversation,
        state_id="o-1",
        agent="bella-vista",
        store=store,
    )
    counter.methods.open(order_session, counter)

    for _ in range(2):
        refused = await counter.refused("say", {"text": "a Cola", "key": "k"})
        assert (refused["code"], refused["type"]) == (code, kind)
        assert refused["retryable"]
    assert len(slow) == (1 if begun else 2)  # what has begun is asked about, not begun again
    if begun:
        slow[0].turn.set_result(7)
        assert await counter.call("say", {"text": "a Cola", "key": "k"}) == {"turn": 7}
    order_session.close()


async def test_a_role_is_needed_even_where_the_binding_lets_in() -> None:
    counter = Counter()

    async def bind(caller: Caller) -> None:
        if caller.identity != ADA:
            raise Forbidden("No.")

    methods = PageMethods(ORDER_PAGE, bind)
    methods.open(counter.session, counter)
    hello = next(method for method in methods.methods() if method.name == "hello")

    with pytest.raises(Forbidden):
        await hello.answer(HelloRequest(), Caller(COOK, STAFF))


async def test_say_after_the_end_starts_another_call_if_one_can_begin() -> None:
    counter, second = Counter(), Counter()
    begun: list[str] = []

    async def again() -> None:
        begun.append(second.order.order_id)
        methods.open(second.session, second)

    methods = PageMethods(ORDER_PAGE, counter.bind, again)
    methods.open(counter.session, counter)
    say = next(method for method in methods.methods() if method.name == "say")
    assert await say.answer(SayRequest(text="bye", key="k"), GUEST_CALLER) == SayReply(turn=1)
    counter.conversation.over = True

    assert await say.answer(SayRequest(text="bye", key="k"), GUEST_CALLER) == SayReply(turn=1)
    assert begun == []
    assert await say.answer(SayRequest(text="hello?"), GUEST_CALLER) == SayReply(turn=1)
    assert (counter.conversation.heard, second.conversation.heard) == (["bye"], ["hello?"])
    assert len(begun) == 1


@pytest.mark.parametrize("who", [ADA, COOK])
async def test_after_the_end_the_order_is_read_only(who: str) -> None:
    counter = Counter()
    add = {"command": {"op": "add_item", "name": "Water"}, "key": "k"}
    first = await counter.call("order.apply", add, who)
    counter.session.end()

    for method, payload in (
        ("order.apply", {"command": {"op": "add_item", "name": "Cola"}}),
        ("order.apply", {"command": {"op": "add_item", "name": "Cola"}, "key": "l"}),
        ("order.apply", {"command": {"op": "set_customer", "name": "Ada"}}),
    ):
        refused = await counter.refused(method, payload, who)
        assert (refused["code"], refused["type"], refused["reason"]) == (
            4022,
            "refused",
            "call_over",
        )
        assert refused["retryable"] is False
    for operation, kind, data in (
        ("create", "item", {"name": "Cola"}),
        ("update", "item", {"quantity": 3}),
        ("delete", "item", None),
        ("update", "tip", {"amount": 100}),
    ):
        line = "L1" if operation != "create" and kind == "item" else None
        told = await counter.state(operation, kind, line, data, who)
        assert (told["status"], told["error"]["reason"]) == ("error", "call_over")
    # What was done before the end is answered as it was, and a key is of one request.
    assert await counter.call("order.apply", add, who) == first
    reused = {"command": {"op": "add_item", "name": "Cola"}, "key": "k"}
    assert (await counter.refused("order.apply", reused, who))["code"] == 4011
    assert (await counter.call("get_order_state", who=who))["order"]["item_count"] == 1
    assert (await counter.call("order.subscribe", who=who))["version"] == 1
    assert (await counter.call("get_menu", who=who))["sections"]
    assert (await counter.state("list", who=who))["status"] == "success"
    assert (await counter.call("hello", who=who))["order_id"] == "o-1"


async def test_words_for_a_call_that_cannot_begin_in_time_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rpc.page.session.SAY_S", 0.01)
    counter = Counter()
    counter.conversation.over = True

    async def never() -> None:
        await asyncio.Event().wait()

    methods = PageMethods(ORDER_PAGE, counter.bind, never)
    methods.open(counter.session, counter)
    say = next(method for method in methods.methods() if method.name == "say")

    with pytest.raises(NotStored):
        await say.answer(SayRequest(text="hello?"), GUEST_CALLER)

    assert counter.conversation.heard == []


async def test_a_key_of_a_call_that_is_over_is_answered_as_it_was_and_nothing_is_done_in_another() -> (
    None
):
    counter, second = Counter(), Counter()
    said = {"text": "two Colas", "key": "k"}
    added = {"command": {"op": "add_item", "name": "Water"}, "key": "k"}
    created = ("create", "item", None, {"name": "Cola"}, ADA)
    answers = [
        await counter.call("say", said),
        await counter.call("order.apply", added),
        await counter.state(*created, key="l"),
        await counter.call("order.apply", added, COOK),
    ]
    counter.session.end()
    counter.methods.open(second.session, second)

    assert answers == [
        await counter.call("say", said),
        await counter.call("order.apply", added),
        await counter.state(*created, key="l"),
        await counter.call("order.apply", added, COOK),
    ]
    for method, asked in (
        ("say", {**said, "text": "a beer"}),
        ("order.apply", {**added, "command": {"op": "add_item", "name": "Cola"}}),
    ):
        assert (await counter.refused(method, asked))["code"] == 4011
    assert (second.conversation.heard, second.shared.version) == ([], 0)
    # A key of another caller's acts for that caller.
    assert await counter.call("say", {"text": "a Cola", "key": "m"}) == {"turn": 1}
    assert (await counter.call("order.apply", {**added, "key": "m"}))["order"]["item_count"] == 1
    assert (second.conversation.heard, second.shared.version) == (["a Cola"], 1)


async def test_the_keys_of_the_last_calls_are_known_and_no_more() -> None:
    counter = Counter()
    await counter.call("say", {"text": "a Cola", "key": "k"})
    others = [Counter() for _ in range(CALLS_KEPT + 1)]
    for other in others[:-1]:
        counter.methods.open(other.session, other)
        assert await counter.call("say", {"text": "a Cola", "key": "k"}) == {"turn": 1}
    assert all(other.conversation.heard == [] for other in others)

    counter.methods.open(others[-1].session, others[-1])
    await counter.call("say", {"text": "a Cola", "key": "k"})
    assert others[-1].conversation.heard == ["a Cola"]
