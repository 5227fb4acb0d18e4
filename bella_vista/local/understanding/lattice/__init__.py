"""All meanings of the words of a message."""
