"""Resume codes: an order's id and a signature, with which a guest resumes the order in another room.

Nothing is stored: the signature is an HMAC of the id with the server's API secret. Changing that
secret invalidates all codes.
"""

import base64
import hashlib
import hmac

_PURPOSE = b"bella-vista resume code 1\0"
_SIGNATURE = 26
"""Letters of the signature: five bits each, 130 in all."""


def resume_code(order_id: str, secret: str) -> str:
    """Make the code of an order.

    Args:
        order_id: The order's id.
        secret: The server's API secret.

    >>> order_of("not-a-code", "s"), order_of(resume_code("abcd-efgh-jkmn", "s"), "s")
    (None, 'abcd-efgh-jkmn')
    """
    return f"{order_id}.{_signature(order_id, secret)}"


def order_of(code: str, secret: str) -> str | None:
    """Return the id of the order a code was made for; ``None`` when the code is invalid."""
    order_id, _, signature = code.strip().lower().partition(".")
    if not order_id or not signature.isascii():
        return None
    return order_id if hmac.compare_digest(signature, _signature(order_id, secret)) else None


def _signature(order_id: str, secret: str) -> str:
    digest = hmac.new(secret.encode(), _PURPOSE + order_id.encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode().lower()[:_SIGNATURE]
