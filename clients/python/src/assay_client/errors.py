"""What a call raises."""

from __future__ import annotations

from typing import Any

from .models import Challenge


class AssayError(Exception):
    """A call that failed. Its text is for the log: it has no token, no handle and no nonce.

    If it is neither `Refused` nor `Unavailable`, the caller, the settings or the provider is at fault: raise an alert.
    """

    def __init__(
        self,
        status: int,
        code: str | None = None,
        detail: str | None = None,
        *,
        request_id: str | None = None,
        spent: bool = False,
        retry_after: int | None = None,
        claim: str | None = None,
        provider_error: str | None = None,
        context: str | None = None,
        challenge: Challenge | None = None,
        dpop_nonce: str | None = None,
        members: dict[str, Any] | None = None,
    ):
        #: The HTTP status; 0 if there was no answer.
        self.status = status
        #: One of `Code`; `None` if there was no answer, or if it was not Assay's.
        self.code = code
        #: For people; it may change.
        self.detail = detail
        self.request_id = request_id
        #: Whether the sign-in, code, token, nonce or proof is, or may be, used up. Never send it again.
        self.spent = spent
        #: Seconds to wait before the same request may succeed.
        self.retry_after = retry_after
        #: The claim that is missing or invalid.
        self.claim = claim
        #: The provider's error code.
        self.provider_error = provider_error
        #: The begin call's, if the user or the provider ended the sign-in. Don't log it.
        self.context = context
        #: How to answer the client that sent an access token; only for a call with `resource`.
        self.challenge = challenge
        #: What the next proof of this client must have, as `DPoP-Nonce` of your response.
        self.dpop_nonce = dpop_nonce
        #: The whole problem, for members that this version does not know.
        self.members = members or {}
        super().__init__(self._text())

    def _text(self) -> str:
        if not self.status:
            received = ", but may have got the request" if self.spent else ""
            return f"Assay did not answer{received}" + (f": {self.detail}" if self.detail else "")
        if self.code is None:
            return f"The answer with status {self.status} is not one of Assay's"
        return f"Assay answered {self.status} {self.code}: {self.detail} (request {self.request_id})"

    @property
    def may_retry(self) -> bool:
        """Whether the same request may be sent again, after `retry_after` seconds. The client did so, for as long as it may."""
        return not self.spent and self.status in (0, 503)


class Refused(AssayError):
    """Sign nobody in (`status` 422): the same request will be refused again. Show users one message for all codes."""


class Unavailable(AssayError):
    """Nobody can decide now (`status` 503, or 0 without an answer). Unless `spent`, the same request may succeed later."""


def error(status: int, **members: Any) -> AssayError:
    kind = {422: Refused, 503: Unavailable, 0: Unavailable}.get(status, AssayError)
    # A refusal without a code is not Assay's.
    return (AssayError if status == 422 and members.get("code") is None else kind)(status, **members)
