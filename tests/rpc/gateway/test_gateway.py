"""Who may call, what is refused in which order, and what the refusal says."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from livekit import rtc
from pydantic import BaseModel

from rpc.gateway import (
    BadParams,
    Caller,
    Forbidden,
    Gateway,
    Limits,
    Method,
    RateLimited,
    Request,
    UnknownOperation,
    VersionDemanded,
)
from state.shared import (
    Busy,
    JournalFault,
    NotStored,
    OutcomeUnknown,
    Refused,
    Stale,
    TakenOver,
    Unstorable,
)
from tests.counted_calls import counted_calls
from tests.rpc.gateway.shop import (
    ADD,
    GREET,
    Nothing,
    Number,
    Shop,
    Text,
    answering,
    data_of,
    shop,
)
from tests.virtual_time import played

AGENT, PHONE = (
    rtc.ParticipantKind.PARTICIPANT_KIND_AGENT,
    rtc.ParticipantKind.PARTICIPANT_KIND_SIP,
)


class Sold(Refused):
    code = "sold_out"


def codes(answers: list[Any]) -> set[int]:
    return {answer.code if isinstance(answer, rtc.RpcError) else 0 for answer in answers}


async def test_guest_and_staff_are_answered() -> None:
    async with shop() as place:
        assert await place.call("ada", "add", {"by": 2}) == {"number": 3}
        assert await place.call("sam", "add", {"by": 2}) == {"number": 3}
        assert await place.call("sam", "greet") == {"text": "staff"}


async def test_a_stranger_is_answered_only_where_anybody_is() -> None:
    async with shop() as place:
        assert await place.call("zoe", "greet") == {"text": "nobody"}
        assert (await place.call("zoe", "add", {"by": 2})).code == 4003


HOUSE_ONLY = replace(ADD, name="reset", roles=("staff",))


@pytest.mark.parametrize("payload", ['{"by":2}', "[", "x" * 9_000, '{"total":0}'])
async def test_a_method_of_one_role_is_refused_to_others_for_any_payload(payload: str) -> None:
    async with shop(HOUSE_ONLY) as place:
        refused = await place.call("ada", "reset", payload)
        stranger = await place.call("zoe", "reset", payload)
        assert await place.call("sam", "reset", {"by": 2}) == {"number": 3}

    assert (refused.code, refused.message) == (4003, "Only the role staff can call this.")
    assert data_of(refused)["version"] == 7
    assert (stranger.code, stranger.message) == (4003, "You have no role in this room.")
    assert "version" not in data_of(stranger)


async def test_another_roles_method_counts_as_a_call_and_says_so_even_above_the_limit() -> None:
    async with shop(HOUSE_ONLY, ADD, limits=Limits(at_once=3, per_second=0.1)) as place:
        refused = [await place.call("ada", "reset", {"by": 2}) for _ in range(5)]
        limited = await place.call("ada", "add", {"by": 2})

    assert codes(refused) == {4003}
    assert limited.code == 4029


async def test_a_method_for_anybody_may_still_leave_a_role_out() -> None:
    method = replace(GREET, roles=("guest",))
    async with shop(method) as place:
        assert await place.call("zoe", "greet") == {"text": "nobody"}
        assert await place.call("ada", "greet") == {"text": "guest"}
        assert (await place.call("sam", "greet")).code == 4003


@pytest.mark.parametrize("payload", ['{"by":2}', "[", "x" * 9_000, '{"total":0}'])
async def test_a_stranger_learns_nothing(payload: str) -> None:
    async with shop() as place:
        refused = await place.call("zoe", "add", payload)

    assert (refused.code, refused.message) == (
        4003,
        "You have no role in this room. Call greet: it gives you one, or says why not.",
    )
    assert "version" not in data_of(refused)


async def test_a_stranger_sees_no_version_in_methods_open_to_all() -> None:
    async with shop() as place:
        theirs, ours = await place.call("zoe", "greet", "["), await place.call("ada", "greet", "[")

    assert "version" not in data_of(theirs)
    assert data_of(ours)["version"] == 7


async def test_a_hidden_caller_does_nothing() -> None:
    ran: list[Caller] = []

    async def do(request: Nothing, caller: Caller) -> Text:
        ran.append(caller)
        return Text(text="")

    async with shop(Method("do", Nothing, do, anybody=True)) as place:
        place.room.join("spy", hidden=True)
        refused = await place.call("spy", "do")
        with pytest.raises(rtc.RpcError) as told:
            await place.gateway.handle("do", "", "{}", 5.0)

    assert ran == []
    assert refused.code == 1501
    assert told.value.code == 4003


@pytest.mark.parametrize("method", ["add", "greet"])
async def test_calls_from_the_server_are_refused(method: str) -> None:
    async with shop() as place:
        with pytest.raises(rtc.RpcError) as refused:
            await place.room.call_by_server(method, {"by": 1})

    assert refused.value.code == 4003


@pytest.mark.parametrize("method", ["add", "greet"])
async def test_another_agent_is_no_guest(method: str) -> None:
    async with shop() as place:
        place.room.leave("ada")
        place.room.join("ada", kind=AGENT)

        refused = await place.call("ada", method, {"by": 1})

    assert refused.code == 4003
    assert "version" not in data_of(refused)


async def test_a_guest_on_the_phone_may_call() -> None:
    async with shop() as place:
        place.room.leave("ada")
        place.room.join("ada", kind=PHONE)

        assert await place.call("ada", "add", {"by": 1}) == {"number": 2}


async def test_a_caller_whom_the_room_has_not_shown_yet_is_looked_for() -> None:
    looked: list[str] = []

    async def find(identity: str) -> bool:
        looked.append(identity)
        if identity in place.room.clients:
            place.room.see(identity)
        return identity in place.room.clients

    async with shop(find=find) as place:
        place.room.join("new", seen=False)
        before = await place.call("new", "add", {"by": 1})
        answer = await place.call("new", "greet")
        with pytest.raises(rtc.RpcError) as nobody:
            await place.room.call_by_server("greet")

    assert before.code == 4003
    assert answer == {"text": "nobody"}
    assert nobody.value.code == 4003
    assert len(looked) == 2


async def test_without_a_function_for_roles_callers_are_refused() -> None:
    async with shop() as place:
        place.room.join("new", seen=False)

        assert (await place.call("new", "greet")).code == 4003


async def test_a_method_that_there_is_not_is_livekits_to_refuse() -> None:
    async with shop() as place:
        refused = await place.call("ada", "agent.reset")

    assert (refused.code, refused.message) == (1400, "Method not supported at destination")


async def test_a_method_registered_by_other_code_is_left_alone() -> None:
    async def theirs(invocation: rtc.RpcInvocationData) -> str:
        return '"theirs"'

    async def fails(invocation: rtc.RpcInvocationData) -> str:
        raise rtc.RpcError(1, "theirs")

    async with shop() as place:
        place.room.local_participant.register_rpc_method("lk.theirs", theirs)
        place.room.local_participant.register_rpc_method("lk.fails", fails)

        assert await place.call("ada", "lk.theirs") == "theirs"
        assert (await place.call("ada", "lk.fails")).code == 1
        assert (await place.call("ada", "lk.theirs", "x" * 8_193)).code == 4013
        assert (await place.call("zoe", "lk.theirs")).code == 4003


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ("null", 4000),
        ("[]", 4000),
        ('"x"', 4000),
        ("5", 4000),
        ('{"by":1', 4000),
        ('{"by":1} {}', 4000),
        ('\ufeff{"by":1}', 4000),
        ('{"by":' + "[" * 8_000, 4000),
        ('{"by":' + "9" * 5_000 + "}", 4000),
        ('{"by":NaN}', 4000),
        ('{"by":1e400}', 4000),
        ('{"by":2,"by":0}', 4000),
        ('{"by":1,"why":"\\ud800"}', 4000),
        ('{"by":1,"why":"\ud800"}', 4000),
        ('{"by":1,"why":"' + "x" * 8_180 + '"}', 4013),
        ("[" * 15_000, 4013),
        ("é" * 4_097, 4013),
        ("", 4001),
        ("{}", 4001),
        ('{"by":null}', 4001),
        ('{"by":"2"}', 4001),
        ('{"by":2.0}', 4001),
        ('{"by":true}', 4001),
        ('{"by":1,"total":0}', 4001),
        ('{"by":1,"__proto__":{}}', 4001),
        ('{"by":1,"__class__":"x","constructor":1}', 4001),
    ],
)
async def test_an_invalid_request_is_refused_with_its_code(payload: str, code: int) -> None:
    async with shop() as place:
        refused = await place.call("ada", "add", payload)

    assert refused.code == code
    data = data_of(refused)
    assert (data["code"], data["retryable"], data["version"]) == (code, False, 7)


async def test_as_many_bytes_as_are_taken_are_taken() -> None:
    payload = '{"by":1,"why":"' + "x" * (8_192 - 17) + '"}'
    assert len(payload) == 8_192

    async with shop() as place:
        assert await place.call("ada", "add", payload) == {"number": 2}
        assert (await place.call("ada", "add", payload + " ")).code == 4013


async def test_an_empty_payload_reads_as_an_empty_object() -> None:
    async with shop() as place:
        assert await place.call("ada", "greet", " \n") == {"text": "guest"}


async def test_an_error_names_the_field_and_not_its_value() -> None:
    async with shop() as place:
        refused = await place.call(
            "ada", "add", {"by": "4111 1111 1111 1111", "unit_price": "4222", "4333 333": 4444}
        )

    data = data_of(refused)
    errors: Any = data["facts"]
    assert [one["path"] for one in errors["errors"]] == ["by", "unit_price", "(a field)"]
    assert errors["field"] == "by"
    assert not [digits for digits in ("4111", "4222", "4333", "4444") if digits in refused.data]


@pytest.mark.parametrize(
    ("raised", "code", "kind"),
    [
        (BadParams("No.", field="x"), 4001, "invalid_params"),
        (Forbidden("Not this."), 4003, "forbidden"),
        (UnknownOperation("None such."), 4005, "unknown_operation"),
        (VersionDemanded("Say which."), 4028, "precondition_required"),
        (RateLimited("Slowly.", retry_after_ms=5), 4029, "rate_limited"),
        (Stale(1, 7), 4009, "version_conflict"),
        (Sold("None left.", name="soup"), 4022, "refused"),
        (Busy(1.0), 5003, "unavailable"),
        (NotStored("/var/lib/secret"), 5003, "unavailable"),
        (Unstorable("it holds a number that is too long"), 4022, "refused"),
        (JournalFault("/var/lib/secret", "x"), 5003, "unavailable"),
        (TakenOver(), 5003, "unavailable"),
        (OutcomeUnknown(), 5004, "outcome_unknown"),
        (KeyError("secret"), 5000, "internal"),
        (TimeoutError("secret"), 5000, "internal"),
        (RecursionError("secret"), 5000, "internal"),
        (MemoryError("secret"), 5000, "internal"),
        (UnicodeEncodeError("utf-8", "secret\ud800", 0, 1, "x"), 5000, "internal"),
        (rtc.RpcError(1503, "secret", "secret"), 5000, "internal"),
        (rtc.RpcError(4029, "secret", "secret"), 5000, "internal"),
        (ExceptionGroup("secret", [ValueError("secret")]), 5000, "internal"),
    ],
)
async def test_every_exception_of_a_method_becomes_one_error_object(
    raised: Exception, code: int, kind: str
) -> None:
    async def do(request: Nothing, caller: Caller) -> Text:
        raise raised

    async with shop(answering(do)) as place:
        refused = await place.call("ada", "do")

    data = data_of(refused)
    assert (refused.code, data["code"], data["type"], data["version"]) == (code, code, kind, 7)
    assert refused.message == data["detail"]
    assert "secret" not in refused.message + refused.data


async def test_a_refusal_says_its_reason_and_its_facts() -> None:
    async def do(request: Nothing, caller: Caller) -> Text:
        raise Sold("None left.", name="soup")

    async with shop(answering(do)) as place:
        data = data_of(await place.call("ada", "do"))

    assert (data["reason"], data["facts"]) == ("sold_out", {"name": "soup"})


async def test_a_method_that_was_cancelled_from_inside_is_a_method_that_failed() -> None:
    async def do(request: Nothing, caller: Caller) -> Text:
        raise asyncio.CancelledError

    async with shop(answering(do)) as place:
        assert (await place.call("ada", "do")).code == 5000


@pytest.mark.parametrize("reply", ["text", None, 5, {"a": 1}])
async def test_a_method_that_answers_with_no_model_has_failed(reply: object) -> None:
    async def do(request: Nothing, caller: Caller) -> Any:
        return reply

    async with shop(answering(do)) as place:
        assert (await place.call("ada", "do")).code == 5000


@pytest.mark.parametrize("text", ["\ud800", float("nan")])
async def test_a_reply_that_no_parser_reads_is_not_sent(text: Any) -> None:
    async def do(request: Nothing, caller: Caller) -> BaseModel:
        return Text.model_construct(text=text)

    async with shop(answering(do)) as place:
        assert (await place.call("ada", "do")).code == 5000


async def test_a_reply_just_fits_and_one_byte_more_is_said_plainly() -> None:
    frame = len('{"text":""}')

    async def do(request: Nothing, caller: Caller) -> Text:
        return Text(text="é" * ((15_360 - frame) // 2) + "x" * extra)

    async with shop(answering(do)) as place:
        extra = (15_360 - frame) % 2
        fits = await place.call("ada", "do")
        extra += 1
        refused = await place.call("ada", "do")

    assert len(json.dumps(fits, ensure_ascii=False, separators=(",", ":")).encode()) == 15_360
    data = data_of(refused)
    assert (refused.code, data["reason"], data["retryable"]) == (5000, "reply_too_long", False)
    assert "Ask for less" in refused.message


async def test_a_long_error_is_cut_by_us_and_stays_json() -> None:
    async def do(request: Nothing, caller: Caller) -> Text:
        raise Sold(
            "Pizza 🍕 " * 500,
            small="soup",
            large="x" * 20_000,
            broken="\ud800",
            many=[*["y" * 90] * 80],
        )

    async with shop(answering(do)) as place:
        refused = await place.call("ada", "do")

    assert len(refused.message.encode()) <= 256
    assert refused.message.endswith(" ...")
    assert len(refused.data.encode()) <= 15_360
    data: Any = data_of(refused)
    assert data["facts"]["small"] == "soup"
    assert len(data["facts"]["many"]) == 80
    assert not {"large", "broken"} & set(data["facts"])


@pytest.mark.parametrize("fact", ["\ud800", float("nan"), float("inf"), {"deep": ["\udfff"]}])
async def test_no_error_holds_what_cannot_be_sent(fact: Any) -> None:
    async def do(request: Nothing, caller: Caller) -> Text:
        raise Sold("Half a \ud83c pizza.", fact=fact)

    async with shop(answering(do)) as place:
        refused = await place.call("ada", "do")

    assert (refused.code, refused.message) == (4022, "Half a ? pizza.")
    assert data_of(refused)["facts"] == {}


@pytest.mark.parametrize("response_timeout", [1.0, 8.0])
def test_a_method_is_stopped_before_livekits_deadline(response_timeout: float) -> None:
    ended: list[float] = []

    async def do(request: Nothing, caller: Caller) -> Text:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(asyncio.get_running_loop().time())
        raise AssertionError

    async def called() -> rtc.RpcError:
        async with shop(answering(do)) as place:
            refused = await place.call("ada", "do", response_timeout=response_timeout)
        assert isinstance(refused, rtc.RpcError)
        return refused

    assert played(called()).code == 5004
    assert ended == [0.8 if response_timeout == 1 else 7.5]


def test_a_method_that_does_not_stop_is_told_by_livekit() -> None:
    async def do(request: Nothing, caller: Caller) -> Text:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0.9)
        await asyncio.sleep(0.9)
        return Text(text="late")

    async def called() -> rtc.RpcError:
        async with shop(answering(do)) as place:
            refused = await place.call("ada", "do", response_timeout=1.0)
        assert isinstance(refused, rtc.RpcError)
        return refused

    assert played(called()).code == 1502


async def test_a_method_that_takes_longer_than_ours_is_stopped_and_says_that_it_may_have_been_done() -> (
    None
):
    async def do(request: Nothing, caller: Caller) -> Text:
        await asyncio.Event().wait()
        raise AssertionError

    async with shop(answering(do), limits=Limits(answer_s=0.02)) as place:
        refused = await place.call("ada", "do")

    data = data_of(refused)
    assert (refused.code, data["type"], data["retryable"]) == (5004, "outcome_unknown", True)


async def test_a_call_that_is_cancelled_gives_its_place_back() -> None:
    begun = asyncio.Event()

    async def do(request: Nothing, caller: Caller) -> Text:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with shop(answering(do), GREET, limits=Limits(at_once=1)) as place:
        task = asyncio.create_task(place.gateway.handle("do", "ada", "{}", 5.0))
        await begun.wait()
        place.seconds[0] = 60
        assert (await place.call("ada", "greet")).code == 4029
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        assert await place.call("ada", "greet") == {"text": "guest"}


async def test_a_caller_who_leaves_meanwhile_breaks_nothing() -> None:
    done: list[str] = []

    async def do(request: Nothing, caller: Caller) -> Number:
        place.room.leave("ada")
        await asyncio.sleep(0)
        done.append("done")
        return Number(number=1)

    async with shop(answering(do)) as place:
        await place.gateway.handle("do", "ada", "{}", 5.0)

    assert done == ["done"]


async def test_the_gateway_precedes_other_interceptors() -> None:
    seen: list[str] = []

    class Tracer(rtc.RpcInterceptor):
        async def intercept_incoming(self, invocation: Any, next: Any) -> Any:
            seen.append(invocation.payload)
            return await next(invocation)

    async with shop() as place:
        tracer = Tracer()
        participant = place.room.local_participant
        participant.remove_rpc_interceptor(place.gateway)
        participant.add_rpc_interceptor(tracer)
        place.gateway.install(participant)

        await place.call("ada", "add", {"by": 1})
        await place.call("zoe", "greet")

    assert seen == []


async def test_without_the_interceptor_the_methods_are_guarded_all_the_same() -> None:
    async with shop() as place:
        place.room.local_participant.remove_rpc_interceptor(place.gateway)

        assert (await place.call("zoe", "add", {"by": 1})).code == 4003
        assert await place.call("ada", "add", {"by": 1}) == {"number": 2}


def test_two_methods_of_one_name_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="same name"):
        Gateway(
            [ADD, ADD], role_of=lambda who: None, is_there=lambda who: True, version=lambda: None
        )


class Line(BaseModel):
    quantity: int


class Order(Request):
    lines: tuple[Line, ...]


async def test_a_list_is_taken_for_a_tuple_and_strictness_goes_all_the_way_down() -> None:
    async def do(request: Order, caller: Caller) -> Number:
        return Number(number=sum(line.quantity for line in request.lines))

    async with shop(Method("order", Order, do)) as place:
        lines = [{"quantity": 1}, {"quantity": 2}]
        assert await place.call("ada", "order", {"lines": lines}) == {"number": 3}
        refused = await place.call("ada", "order", {"lines": [{"quantity": "2"}]})

    assert refused.message == "lines.0.quantity: has to be a whole number."


async def test_100_callers_at_once_are_each_answered_with_their_own() -> None:
    async with shop() as place:
        answers = await asyncio.gather(
            *(place.call("ada", "add", {"by": number}) for number in range(100))
        )

    assert [answer["number"] for answer in answers] == list(range(1, 101))


async def flood(place: Shop, calls: int, method: str = "add") -> list[Any]:
    return await asyncio.gather(*(place.call("ada", method, '{"by":1}') for _ in range(calls)))


def test_two_thousand_calls_in_one_loop_iteration_are_refused_and_the_caller_is_muted() -> None:
    async def story() -> tuple[list[Any], Any, Any, Any]:
        async with shop() as place:
            answers = await flood(place, 2_000)
            others = await place.call("sam", "add", {"by": 1})
            await place.room.clock.advance(1)
            muted = await place.call("ada", "add", {"by": 1})
            place.seconds[0] = 10
            await place.room.clock.advance(10)
            return answers, others, muted, await place.call("ada", "add", {"by": 1})

    answers, others, muted, after = played(story())

    assert len([answer for answer in answers if isinstance(answer, dict)]) == 100
    assert codes(answers) == {0, 4029}
    refused = data_of(next(answer for answer in answers if isinstance(answer, rtc.RpcError)))
    assert (refused["retryable"], refused["retry_after_ms"], refused["version"]) == (True, 50, 7)
    assert others == {"number": 2}
    assert muted.code == 1501
    assert after == {"number": 2}


async def test_a_refusal_for_number_costs_less_than_a_call_that_is_answered() -> None:
    async with shop() as place:
        with counted_calls() as answered:
            for _ in range(10):
                await place.gateway.handle("add", "ada", '{"by":1}', 5.0)
        await flood(place, 100)
        refusals = []
        with counted_calls() as refused:
            for _ in range(10):
                try:
                    await place.gateway.handle("add", "ada", '{"by":1}', 5.0)
                except rtc.RpcError as error:
                    refusals.append(data_of(error)["type"])

    assert refusals == ["rate_limited"] * 10
    assert refused.calls < answered.calls


@pytest.mark.parametrize("method", ["add", "lk.theirs"])
async def test_calls_of_other_methods_count_towards_the_limit(method: str) -> None:
    async def theirs(invocation: rtc.RpcInvocationData) -> str:
        return "{}"

    async with shop() as place:
        place.room.local_participant.register_rpc_method("lk.theirs", theirs)
        answers = await flood(place, 201, method)
        await place.room.clock.advance(1)

        assert len([answer for answer in answers if getattr(answer, "code", 0) == 4029]) == 101
        assert not place.room.permission_of("ada").can_publish_data


async def test_100_refusals_alone_do_not_mute() -> None:
    async with shop() as place:
        await flood(place, 200)
        await place.room.clock.advance(1)

        assert place.room.service.updates == []


async def test_a_stranger_who_does_not_stop_is_told_4003_each_time_and_muted() -> None:
    async with shop() as place:
        answers = await asyncio.gather(*(place.call("zoe", "add") for _ in range(300)))
        await place.room.clock.advance(1)

        assert codes(list(answers)) == {4003}
        assert not place.room.permission_of("zoe").can_publish_data


async def answered_after(place: Shop, calls: Sequence[asyncio.Future[Any]], seconds: float) -> int:
    """Let time pass and count the answered calls."""
    await place.room.clock.advance(seconds)
    return sum(call.done() for call in calls)


@pytest.mark.parametrize("caller", ["ada", "zoe"])
async def test_refusals_are_sent_one_by_one_and_other_callers_are_served_in_between(
    caller: str,
) -> None:
    async with shop(sleep=lambda room, delay: room.clock.sleep(delay)) as place:
        calls = [asyncio.ensure_future(place.call(caller, "greet")) for _ in range(400)]
        at_once = await answered_after(place, calls, 0)
        others = await asyncio.gather(*(place.call("sam", "add", {"by": 1}) for _ in range(100)))
        unchanged = sum(call.done() for call in calls)
        muted = not place.room.permission_of(caller).can_publish_data
        later = await answered_after(place, calls, 0.101)
        await place.room.clock.advance(1)
        answers = await asyncio.gather(*calls)

    assert at_once == 101, "100 calls are served, and one refusal is sent"
    assert (others, unchanged) == ([{"number": 2}] * 100, 101)
    assert muted, "the server was asked before the refusals were sent"
    assert later == 141
    assert codes(answers) == {0, 4029}


async def test_a_refusal_without_a_waiting_caller_delays_no_others() -> None:
    async with shop(sleep=lambda room, delay: room.clock.sleep(delay)) as place:
        await flood(place, 101)
        late = await place.call("ada", "add", {"by": 1}, response_timeout=0.02)
        others = await place.call("sam", "add", {"by": 1})
        place.seconds[0] = 60
        after = await place.call("ada", "add", {"by": 1})

    assert (late.code, others, after) == (1502, {"number": 2}, {"number": 2})


async def test_a_single_refusal_is_sent_at_once() -> None:
    async with shop(sleep=lambda room, delay: room.clock.sleep(delay)) as place:
        await flood(place, 100)

        assert (await place.call("ada", "add", {"by": 1})).code == 4029


async def test_calls_of_a_flood_wait_for_no_server_that_hangs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with shop() as place:

        async def hangs(request: Any) -> Any:
            await asyncio.Event().wait()

        monkeypatch.setattr("rpc.gateway.mutes.CLOSING_S", 0.01)
        monkeypatch.setattr(place.room.service, "get_participant", hangs)

        answers = await flood(place, 300)

    assert codes(answers) == {0, 4029}


async def test_a_flood_by_a_stranger_takes_nothing_from_the_guest() -> None:
    async with shop() as place:
        await asyncio.gather(*(place.call("zoe", "greet") for _ in range(300)))

        assert await place.call("ada", "add", {"by": 1}) == {"number": 2}


async def test_leaving_and_coming_back_gives_no_fresh_bucket() -> None:
    async with shop() as place:
        await flood(place, 100)
        place.room.leave("ada")
        place.room.join("ada")

        assert (await place.call("ada", "add", {"by": 1})).code == 4029
