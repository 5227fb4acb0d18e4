"""The code with which a guest goes on with his order in another room: the order's id, and a proof.

Nothing is stored for it: the proof is made from the id with the server's own secret. Whoever changes that
secret makes the codes void that were given before.
"""

import base64
import hashlib
import hmac

_PURPOSE = b"bella-vista resume code 1\0"
_PROOF = 26
"""Letters of the proof: five bits each, 130 in all."""


def resume_code(order_id: str, secret: str) -> str:
    """Make the code of an order.

    Args:
        order_id: The order's id.
        secret: The server's API secret.

    >>> order_of("not-a-code", "s"), order_of(resume_code("abcd-efgh-jkmn", "s"), "s")
    (None, 'abcd-efgh-jkmn')
    """
    return f"{order_id}.{_proof(order_id, secret)}"


def order_of(code: str, secret: str) -> str | None:
    """Return the id of the order a code was made for; ``None`` when it is no code of ours."""
    order_id, _, proof = code.strip().lower().partition(".")
    if not order_id or not proof.isascii():
        return None
    return order_id if hmac.compare_digest(proof, _proof(order_id, secret)) else None


def _proof(order_id: str, secret: str) -> str:
    digest = hmac.new(secret.encode(), _PURPOSE + order_id.encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode().lower()[:_PROOF]
