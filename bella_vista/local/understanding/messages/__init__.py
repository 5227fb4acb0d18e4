"""A message before it is read: written in other words, cut into clauses, with its asides and persons."""
