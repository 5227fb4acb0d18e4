"""What a terminal needs: lines of input, streams, logs, signals."""
