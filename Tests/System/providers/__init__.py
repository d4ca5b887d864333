"""Real OpenID Providers on loopback. Each is a context manager that signs a user in, and returns what a client receives."""
