"""What a client receives when a user has signed in."""

import secrets
from dataclasses import dataclass


@dataclass(frozen=True)
class SignIn:
    """One user's sign-in at one client."""

    client_id: str
    id_token: str
    access_token: str
    # The raw nonce that the client generated; None if the flow has none.
    nonce: str | None
    # The authorization code, already used.
    code: str | None = None


def new_nonce() -> str:
    return secrets.token_urlsafe(24)
