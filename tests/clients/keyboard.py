"""A guest who uses a page with the keyboard alone; after each key it is seen where they are."""

from tests.clients.guest import Guest

MOST_TABS = 150
"""More than any page has to step through."""

NAME_OF_FOCUS = """(() => {
  const focused = document.activeElement;
  const label = focused.labels?.[0];
  const text = focused.getAttribute('aria-label') ?? label?.textContent ?? focused.textContent;
  return text.replace(/\\s+/g, ' ').trim();
})()"""
"""The name of what has the focus, as a screen reader has it."""

FAULT_OF_FOCUS = """(() => {
  const focused = document.activeElement;
  if (!focused || focused === document.body || focused.id === 'root') return 'it is lost';
  // A radio button is drawn by its label, which it fills, the ticket by its heading, the talk by its newest line.
  const part = focused.id === 'talk' ? '.newest' : ':scope > header';
  const drawn = focused.closest('label') ?? focused.querySelector(part) ?? focused;
  const { left, top, width, height } = drawn.getBoundingClientRect();
  const marked = [focused, drawn].some((one) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1;
  });
  if (!marked) return 'nothing marks it';
  const at = [0.1, 0.5, 0.9];
  const shown = at.some((x) => at.some((y) =>
    drawn.contains(document.elementFromPoint(left + x * width, top + y * height))));
  return shown ? '' : `it is hidden at ${left}, ${top}, ${width} x ${height}`;
})()"""
"""What is wrong with the focus; nothing if it is on the page, marked, and not covered."""


class Keyboard:
    """A keyboard.

    Args:
        guest: Uses it.
    """

    def __init__(self, guest: Guest) -> None:
        self._guest = guest

    async def press(self, key: str) -> None:
        """Press a key; the focus is visible after it."""
        await self._guest.key(key)
        fault = await self._guest.evaluate(FAULT_OF_FOCUS)
        assert not fault, f"the focus after {key}: {fault} ({await self.at()!r})"

    async def at(self) -> str:
        """Return the name of what has the focus."""
        name: str = await self._guest.evaluate(NAME_OF_FOCUS)
        return name

    async def reach(self, name: str, *, back: bool = False) -> None:
        """Go to what has this name, or a name that begins so."""
        passed: list[str] = []
        while len(passed) < MOST_TABS:
            await self.press("Shift+Tab" if back else "Tab")
            passed.append(await self.at())
            if passed[-1].startswith(name):
                return
        raise AssertionError(f"{name!r} is not reached; passed {passed}")

    async def use(self, name: str, key: str = "Enter", *, back: bool = False) -> None:
        """Go to what has this name and press a key there."""
        await self.reach(name, back=back)
        await self.press(key)

    async def write(self, text: str) -> None:
        """Write into the field that has the focus."""
        for letter in text:
            await self.press(letter)
