"""One JSON object as one line, whoever reads it."""

import json

from pydantic import JsonValue

_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}
"""What JSON allows within a text and many a reader takes for the end of a line."""


def json_line(data: JsonValue) -> str:
    """Write one object as one line that every reader of UTF-8 and JSON can take.

    >>> json_line({"text": "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "half": chr(0xD800)})
    '{"text": "café", "half": "?"}'
    >>> json_line({"by": float("inf")})
    '{"by": "Infinity"}'
    """
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    except ValueError:  # a model may have written 1e999 among a tool's arguments
        finite = json.loads(json.dumps(data), parse_constant=str)
        text = json.dumps(finite, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8").translate(_LINE_ENDS)
