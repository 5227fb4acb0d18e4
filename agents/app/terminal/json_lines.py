"""One JSON object per line, safe for any reader."""

import json

from pydantic import JsonValue

_UNSEEN = (
    *((0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200F)),
    *((0x2028, 0x202E), (0x2060, 0x206F), (0xFEFF, 0xFEFF), (0xE0000, 0xE007F)),
)
_ESCAPED = {
    code: json.dumps(chr(code))[1:-1] for first, last in _UNSEEN for code in range(first, last + 1)
}
"""Characters that JSON allows in a text and that a reader may take for a line end or a terminal
command."""


def json_line(data: JsonValue) -> str:
    """Serialize an object as one line of UTF-8.

    >>> json_line({"text": "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "half": chr(0xD800)})
    '{"text": "café", "half": "?"}'
    >>> json_line({"by": float("inf")})
    '{"by": "Infinity"}'
    """
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    except ValueError:  # a model may send 1e999 as a tool's argument
        finite = json.loads(json.dumps(data), parse_constant=str)
        text = json.dumps(finite, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8").translate(_ESCAPED)
