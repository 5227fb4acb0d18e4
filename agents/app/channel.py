"""The channels over which users talk to agents."""

from typing import Literal

Channel = Literal["terminal", "phone", "web_voice", "web_text"]
