"""What a client receives after a user has signed in."""

import secrets
from dataclasses import dataclass


@dataclass(frozen=True)
class SignIn:
    """A user's sign-in at a client."""

    client_id: str
    id_token: str
    access_token: str
    # The raw nonce from the client; None if the flow has none.
    nonce: str | None
    # The authorization code, already used.
    code: str | None = None


def new_nonce() -> str:
    return secrets.token_urlsafe(24)
