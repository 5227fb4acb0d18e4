"""Input and output of a process in a terminal: streams, lines, tables, logs and signals."""
