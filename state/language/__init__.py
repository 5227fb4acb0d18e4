"""The words of a language, as data: one folder a language."""
