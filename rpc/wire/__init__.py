"""The wire forms of the menu; those that every application has are in ``rpc.page``."""
