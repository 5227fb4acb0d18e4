"""The names of a menu, as guests say them."""
