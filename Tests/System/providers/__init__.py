"""Real OpenID Providers on loopback. Each is a context manager that signs in a user and returns what a client receives."""
