"""Real OpenID Providers on loopback, each a context manager that signs a user in and hands out what a client gets."""
