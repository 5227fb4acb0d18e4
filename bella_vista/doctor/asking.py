"""How long another server is waited for."""

import aiohttp

ANSWER_S = 5.0
"""How long a server may take to answer, in seconds."""


def time_limit() -> aiohttp.ClientTimeout:
    """For how long an answer is waited for."""
    return aiohttp.ClientTimeout(total=ANSWER_S)
