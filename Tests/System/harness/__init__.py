"""Building blocks of the tests: keys and tokens, a key server, the service as a process, an HTTP client."""
