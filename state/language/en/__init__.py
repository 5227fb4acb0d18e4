"""English: what guests say around the names on a menu."""
