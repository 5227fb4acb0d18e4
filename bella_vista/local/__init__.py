"""The embedded language model: rules over a menu, no key, no network."""
