"""Verifies ID Tokens and finishes sign-ins with Assay."""

from .client import Assay
from .codes import Code
from .errors import AssayError, Refused, Unavailable
from .fake import FakeAssay
from .models import (
    AccessToken,
    Authorization,
    BegunBrowserSignIn,
    BegunSignIn,
    Binding,
    Challenge,
    Dpop,
    Encryption,
    Event,
    FinishedSignIn,
    Grant,
    Identity,
    Introspection,
    Keys,
    Notification,
    Problem,
    Proof,
    Refreshed,
    SignOut,
    Token,
    Verified,
    VerifiedAccessToken,
    VerifiedNotification,
)

__version__ = "0.1.0"
__all__ = [
    "AccessToken", "Assay", "AssayError", "Authorization", "BegunBrowserSignIn", "BegunSignIn", "Binding", "Challenge",
    "Code", "Dpop", "Encryption", "Event", "FakeAssay", "FinishedSignIn", "Grant", "Identity", "Introspection", "Keys",
    "Notification", "Problem", "Proof", "Refreshed", "Refused", "SignOut", "Token", "Unavailable", "Verified", "VerifiedAccessToken", "VerifiedNotification",
]  # fmt: skip
