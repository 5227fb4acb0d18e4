"""How often somebody may call."""

from rpc.gateway.rates import KEPT, REFUSAL_EVERY_S, REFUSAL_WITHIN_S, Rates


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def made(at_once: int = 3, per_second: float = 2.0) -> tuple[Rates, Seconds]:
    clock = Seconds()
    return Rates(at_once=at_once, per_second=per_second, clock=clock), clock


def called(rates: Rates, who: str, times: int) -> list[int | None]:
    """Make calls that are over at once."""
    found = []
    for _ in range(times):
        found.append(rates.take(who))
        if found[-1] is None:
            rates.done(who)
    return found


def test_a_full_bucket_is_so_many_calls_and_then_as_many_as_come_back() -> None:
    rates, clock = made()

    assert called(rates, "ada", 4) == [None, None, None, 500]
    clock.now = 0.25
    assert called(rates, "ada", 1) == [250]
    clock.now = 0.5
    assert called(rates, "ada", 2) == [None, 500]
    clock.now = 100
    assert called(rates, "ada", 4) == [None, None, None, 500]


def test_one_callers_bucket_is_not_anothers() -> None:
    rates, _ = made()
    called(rates, "ada", 9)

    assert called(rates, "bob", 1) == [None]


def test_what_is_in_work_counts_until_it_is_done() -> None:
    rates, clock = made()
    for _ in range(3):
        assert rates.take("ada") is None
    clock.now = 60

    assert rates.take("ada") == 500
    rates.done("ada")
    assert rates.take("ada") is None


def test_refusals_are_counted_until_the_caller_has_been_quiet() -> None:
    rates, clock = made()
    called(rates, "ada", 5)
    assert rates.refused("ada") == 2

    clock.now = 1.4
    called(rates, "ada", 1)
    assert rates.refused("ada") == 2

    clock.now = 3.5
    called(rates, "ada", 1)
    assert rates.refused("ada") == 0


def test_a_pardon_forgets_what_was_refused_but_not_the_bucket() -> None:
    rates, _ = made()
    called(rates, "ada", 5)

    rates.reset_refusals("ada")
    rates.reset_refusals("a stranger")

    assert rates.refused("ada") == 0
    assert called(rates, "ada", 1) == [500]
    assert rates.refused("a stranger") == 0


def test_ten_thousand_past_callers_are_not_all_remembered() -> None:
    rates, clock = made(at_once=100, per_second=20)

    for number in range(10_000):
        clock.now += 0.01
        called(rates, f"guest-{number}", 1)

    assert len(rates) <= KEPT


def test_active_and_limited_callers_are_remembered() -> None:
    rates, clock = made()
    assert rates.take("busy") is None
    clock.now = 50
    called(rates, "greedy", 9)

    for number in range(KEPT + 1):
        called(rates, f"guest-{number}", 1)
        clock.now += 0.001

    rates.done("busy")
    assert rates.refused("greedy") == 6


def test_a_clock_that_stands_still_makes_no_call_dearer() -> None:
    rates, _ = made()

    for number in range(5_000):
        called(rates, f"guest-{number}", 1)

    assert called(rates, "guest-0", 3) == [None, None, 500]


def test_refusals_have_time_slots_of_each_callers_own() -> None:
    rates, clock = made()
    called(rates, "ada", 4)
    called(rates, "bob", 4)

    delays = [rates.refusal_delay("ada") for _ in range(3)]
    assert delays == [0, REFUSAL_EVERY_S, 2 * REFUSAL_EVERY_S]
    assert rates.refusal_delay("bob") == 0
    clock.now = 60.0
    assert rates.refusal_delay("ada") == 0


def test_no_refusal_is_later_than_its_caller_waits() -> None:
    rates, _ = made()
    called(rates, "ada", 4)
    delays = [rates.refusal_delay("ada") for _ in range(10_000)]

    assert max(delays) == delays[-1] == REFUSAL_WITHIN_S
