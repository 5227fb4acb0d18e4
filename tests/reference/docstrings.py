"""From a docstring in Google style to Markdown."""

import inspect
import re
from collections.abc import Iterator

_HEAD = re.compile(r"^(Args|Raises|Returns|Yields)\b[^:\n]*:$")
_ENTRY = re.compile(r"^    (\*{0,2}[\w.]+): (.*)$")


def markdown(docstring: str, indent: str = "") -> str:
    """Return a docstring as Markdown: paragraphs, examples, and lists of arguments and errors."""
    lines: list[str] = []
    for title, text in _sections(inspect.cleandoc(docstring).splitlines()):
        if lines:
            lines.append("")
        lines += _prose(text) if title is None else [f"{title}:", "", *_entries(text)]
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def summary(docstring: str) -> str:
    """Return a docstring's first paragraph as one line of Markdown."""
    return _in_line(" ".join(inspect.cleandoc(docstring).split("\n\n")[0].split()))


def arguments(docstring: str) -> dict[str, str]:
    """Return what a docstring says of each argument, as one line of Markdown each."""
    for title, text in _sections(inspect.cleandoc(docstring).splitlines()):
        if title == "Arguments":
            return dict(_pairs(text))
    return {}


def _sections(lines: list[str]) -> Iterator[tuple[str | None, list[str]]]:
    title: str | None = None
    found: list[str] = []
    for line in lines:
        head = _HEAD.match(line)
        if head is None:
            found.append(line)
            continue
        if any(found):
            yield title, found
        title = line.removesuffix(":").replace("Args", "Arguments")
        found = []
    if any(found):
        yield title, found


def _prose(lines: list[str]) -> list[str]:
    made: list[str] = []
    example = False
    for line in lines:
        if line.startswith(">>>") and not example:
            made.append("```python")
            example = True
        elif not line and example:
            made.append("```")
            example = False
        made.append(line if example else _in_line(line))
    if example:
        made.append("```")
    while made and not made[-1]:
        made.pop()
    return made


def _entries(lines: list[str]) -> list[str]:
    return [f"- `{name}`: {text}" for name, text in _pairs(lines)]


def _pairs(lines: list[str]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for line in lines:
        entry = _ENTRY.match(line)
        if entry is not None:
            pairs.append((entry[1], entry[2]))
        elif line.strip() and pairs:
            name, text = pairs[-1]
            pairs[-1] = (name, f"{text} {line.strip()}")
    return [(name, _in_line(text)) for name, text in pairs]


def _in_line(text: str) -> str:
    return re.sub(r"``([^`]+)``", r"`\1`", text)
