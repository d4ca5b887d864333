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
    Dpop,
    Event,
    FinishedSignIn,
    Grant,
    Identity,
    Keys,
    Notification,
    Problem,
    Refreshed,
    Token,
    Verified,
    VerifiedAccessToken,
    VerifiedNotification,
)

__version__ = "0.1.0"
__all__ = [
    "AccessToken", "Assay", "AssayError", "Authorization", "BegunBrowserSignIn", "BegunSignIn", "Binding", "Code", "Dpop",
    "Event", "FakeAssay", "FinishedSignIn", "Grant", "Identity", "Keys", "Notification", "Problem", "Refreshed", "Refused",
    "Token", "Unavailable", "Verified", "VerifiedAccessToken", "VerifiedNotification",
]  # fmt: skip
