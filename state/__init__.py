"""The order of a restaurant and its rules: pure functions, without a conversation.

It imports nothing, so that ``state.shared`` loads no module of the restaurant.
"""
