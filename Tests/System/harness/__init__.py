"""What the tests are made of: keys and tokens, a key server, the service as a process, an HTTP client."""
