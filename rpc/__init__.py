"""What clients in a room call and receive: the framework's gateway and page, and the order over them."""
