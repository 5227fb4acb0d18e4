"""Compiles the local model's patterns; a worker imports this once, before job processes are forked from it.

The first line that a process understands compiles the patterns that it meets, which blocks the event loop for up
to half a second.
"""

from bella_vista.local.understanding.understander import Understander
from bella_vista.menus import OWN
from state.menu import load_menu

_LINES = (
    "hello, a large pizza with ham and without onions, and two colas please",
    "no wait, make that three, and take the second one off",
    "is it vegan, what does it cost, and when do you open tomorrow?",
    "delivery to 12 Main Street at seven, my number is 212 555 0142, I am allergic to nuts",
    "my wife wants the same but half of it with olives. the name is Ada, cash, ten percent tip",
    "yes that's all, thank you, goodbye",
)
"""Lines that meet most patterns between them; it does not matter what they order."""


def _compile() -> None:
    understander = Understander(load_menu(OWN))
    for line in _LINES:
        understander.understand(line)


_compile()
