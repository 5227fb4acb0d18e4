"""Resume codes: a state's id and a signature, with which a user resumes the state in another room.

Nothing is stored: the signature is an HMAC of the id with the server's API secret. Changing that
secret invalidates all codes.
"""

import base64
import hashlib
import hmac

_PURPOSE = b"bella-vista resume code 1\0"
_SIGNATURE = 26
"""Letters of the signature: five bits each, 130 in all."""


def resume_code(state_id: str, secret: str) -> str:
    """Make the code of a state.

    Args:
        state_id: The state's id.
        secret: The server's API secret.

    >>> state_of("not-a-code", "s"), state_of(resume_code("abcd-efgh-jkmn", "s"), "s")
    (None, 'abcd-efgh-jkmn')
    """
    return f"{state_id}.{_signature(state_id, secret)}"


def state_of(code: str, secret: str) -> str | None:
    """Return the id of the state a code was made for; ``None`` when the code is invalid."""
    state_id, _, signature = code.strip().lower().partition(".")
    if not state_id or not signature.isascii():
        return None
    return state_id if hmac.compare_digest(signature, _signature(state_id, secret)) else None


def _signature(state_id: str, secret: str) -> str:
    digest = hmac.new(secret.encode(), _PURPOSE + state_id.encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode().lower()[:_SIGNATURE]
