"""Resume codes: a state's id and a signature, with which a user resumes the state in another room.

Nothing is stored: the signature is an HMAC of the id with the server's API secret. Changing that
secret invalidates all codes.
"""

import base64
import hashlib
import hmac

_SIGNATURE = 26
"""Letters of the signature: five bits each, 130 in all."""


def resume_code(state_id: str, secret: str, application: str) -> str:
    """Make the code of a state.

    Args:
        state_id: The state's id.
        secret: The server's API secret.
        application: The application's name: its codes are no other's.

    >>> code = resume_code("abcd-efgh-jkmn", "s", "clinic")
    >>> state_of("not-a-code", "s", "clinic"), state_of(code, "s", "clinic")
    (None, 'abcd-efgh-jkmn')
    """
    return f"{state_id}.{_signature(state_id, secret, application)}"


def state_of(code: str, secret: str, application: str) -> str | None:
    """Return the id of the state a code was made for; ``None`` when the code is invalid."""
    state_id, _, signature = code.strip().lower().partition(".")
    if not state_id or not signature.isascii():
        return None
    return (
        state_id
        if hmac.compare_digest(signature, _signature(state_id, secret, application))
        else None
    )


def _signature(state_id: str, secret: str, application: str) -> str:
    signed = f"{application} resume code 1\0{state_id}"
    digest = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode().lower()[:_SIGNATURE]
