"""The grammar of an order, and the search for its readings."""
