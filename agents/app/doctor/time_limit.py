"""The timeout of requests to other servers."""

import aiohttp

ANSWER_S = 5.0
"""How long a server may take to answer, in seconds."""


def time_limit() -> aiohttp.ClientTimeout:
    """Return the timeout of one request."""
    return aiohttp.ClientTimeout(total=ANSWER_S)
