"""How hard the properties are tried: the same few examples every day, or many new ones by hand."""

from hypothesis import HealthCheck, Phase, settings

LONG = "long"
"""``--hypothesis-profile=long``: twenty times the examples, others each time, repeatable by their seed."""

_TIMES_MORE = 20
_CHECKS = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
# Without the phase that explains a failure: it traces every line, and the smallest example says enough.
_PHASES = tuple(phase for phase in Phase if phase is not Phase.explain)
_ORDINARY = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=_PHASES,
    suppress_health_check=_CHECKS,
)
_LONG = settings(_ORDINARY, derandomize=False, print_blob=True)


def register() -> None:
    """Make the long profile known; the command line chooses it before any test is collected."""
    settings.register_profile(LONG, _LONG)


def tried(examples: int, steps: int = 50) -> settings:
    """Return settings for so many examples in the ordinary run, each of so many steps where it has any."""
    if settings.get_current_profile_name() == LONG:
        return settings(_LONG, max_examples=examples * _TIMES_MORE, stateful_step_count=steps)
    return settings(_ORDINARY, max_examples=examples, stateful_step_count=steps)
