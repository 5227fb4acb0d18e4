"""The menu that is served when nobody names another."""

from pathlib import Path

OWN = Path(__file__).parent / "menu.yaml"


def menu_file(chosen: Path | None) -> Path:
    """Return the file of the chosen menu, or of Bella Vista's own."""
    return OWN if chosen is None else chosen
