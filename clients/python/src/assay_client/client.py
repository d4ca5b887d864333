"""The calls, and the rules when one of them may be sent again."""

from __future__ import annotations

import json
import pathlib
import ssl
import urllib.parse
from typing import TYPE_CHECKING, Any, Mapping, Protocol, TypeVar

from . import models
from .errors import AssayError, error
from .reading import NotAssays, part, read
from .transport import HTTPTransport, NoAnswer, Reply

if TYPE_CHECKING:
    from typing_extensions import Unpack

Answer = TypeVar("Answer")
# Before these, nothing has been used up.
EARLY = ("keys_unavailable", "overloaded", "shutting_down")


class Transport(Protocol):
    # Without a body, it is a GET.
    def send(self, path: str, body: bytes, headers: dict[str, str], timeout: float, once: bool) -> Reply: ...
    def now(self) -> float: ...
    def sleep(self, seconds: float) -> None: ...


class Assay:
    """One for the whole program; threads may share it. In an asyncio program, call it with `asyncio.to_thread`.

    Every call raises `AssayError`. A call is sent again only if nothing was used up: because the connection could not be
    opened, or Assay answered 503 and says so; and calls that use nothing up, also after a lost answer. `Retry-After` is
    honoured, and no attempt starts later than `retry_for` seconds after the call. So a call takes at most `retry_for`
    seconds and one timeout.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        *,
        api_key: str | None = None,
        api_key_file: str | pathlib.Path | None = None,
        timeout: float = 6,
        finish_timeout: float = 12,
        retry_for: float = 5,
        ssl_context: ssl.SSLContext | None = None,
        transport: Transport | None = None,
    ):
        """`url` may be `unix:/path`. Times are in seconds.

        `api_key_file` is read for each call, so the key can be changed without a restart. `finish_timeout` is for calls that
        wait for a provider: `finish`, `refresh`, `revoke`. `retry_for=0` turns retries off.
        """
        if api_key is not None and api_key_file is not None:
            raise ValueError("give either api_key or api_key_file")
        self._api_key = api_key
        self._api_key_file = None if api_key_file is None else pathlib.Path(api_key_file)
        self._timeout, self._finish_timeout, self._retry_for = timeout, finish_timeout, retry_for
        self._transport = transport or HTTPTransport(url, ssl_context)

    def begin(self, provider: str, **options: Unpack[models.BeginOptions]) -> models.BegunSignIn:
        """Begins the sign-in of an app."""
        return self._call("/v1/sign-ins", {"provider": provider, **options}, 201, models.BegunSignIn)

    def begin_in_browser(
        self, provider: str, redirect_uri: str, **options: Unpack[models.BeginBrowserOptions]
    ) -> models.BegunBrowserSignIn:
        """Begins a sign-in in the browser. The client of the provider's settings must list `redirect_uri`."""
        members = {"provider": provider, "redirect_uri": redirect_uri, **options}
        return self._call("/v1/sign-ins", members, 201, models.BegunBrowserSignIn)

    def finish(
        self, sign_in: str, id_token: str | None = None, **options: Unpack[models.FinishOptions]
    ) -> models.FinishedSignIn:
        """Finishes the sign-in of an app. An ID Token or a `code` is required."""
        members = {"sign_in": sign_in, **({} if id_token is None else {"id_token": id_token}), **options}
        return self._call("/v1/sign-ins/finish", members, 200, models.FinishedSignIn, uses_up=True)

    def finish_in_browser(
        self, sign_in: str, response: Mapping[str, str], redirect_uri: str, **options: Unpack[models.FinishBrowserOptions]
    ) -> models.FinishedSignIn:
        """Finishes a sign-in in the browser. `response`: all parameters that `redirect_uri` received."""
        members = {"sign_in": sign_in, "response": dict(response), "redirect_uri": redirect_uri, **options}
        return self._call("/v1/sign-ins/finish", members, 200, models.FinishedSignIn, uses_up=True)

    def refresh(
        self, provider: str, refresh_token: str, subject: str, **options: Unpack[models.RefreshOptions]
    ) -> models.Refreshed:
        """Redeems a refresh token. Store `grant.refresh_token`, if there is one, before anything else."""
        members = {"provider": provider, "refresh_token": refresh_token, "subject": subject, **options}
        return self._call("/v1/grants/refresh", members, 200, models.Refreshed, uses_up=True)

    def revoke(self, provider: str, token: str, **options: Unpack[models.RevokeOptions]) -> None:
        """Revokes a token. It is safe to revoke one again."""
        self._call("/v1/grants/revoke", {"provider": provider, "token": token, **options}, 204, None, slow=True)

    def revoke_code(self, provider: str, code: str, **options: Unpack[models.RevokeCodeOptions]) -> None:
        """Exchanges the code of a native sign-in, and revokes its tokens."""
        self._call("/v1/grants/revoke", {"provider": provider, "code": code, **options}, 204, None, uses_up=True)

    def proof(
        self, provider: str, binding: str, access_token: str, method: str, url: str,
        **options: Unpack[models.ProofOptions],
    ) -> models.Proof:  # fmt: skip
        """Makes the DPoP proof for a call with the access token of a bound grant. Each call needs a new one."""
        members = {"provider": provider, "binding": binding, "access_token": access_token, "method": method, "url": url}
        return self._call("/v1/grants/proof", {**members, **options}, 200, models.Proof)

    def sign_out(self, provider: str, **options: Unpack[models.SignOutOptions]) -> models.SignOut:
        """Where the user signs out at the provider. End your own session first."""
        return self._call("/v1/sign-outs", {"provider": provider, **options}, 200, models.SignOut)

    def verify(
        self, id_token: str, nonce: str | None, *, single_use: bool = False, **options: Unpack[models.VerifyOptions]
    ) -> models.Verified:
        """Verifies an ID Token, without `begin` and `finish`. `nonce`: `None` only if the sign-in has none.

        `single_use`: the provider has `nonce.single_use` in Assay's settings.
        """
        members = {"id_token": id_token, **({} if nonce is None else {"nonce": nonce}), **options}
        return self._call("/v1/verify", members, 200, models.Verified, uses_up=single_use, slow=False)

    def verify_access_token(
        self, token: str, **options: Unpack[models.AccessTokenOptions]
    ) -> models.VerifiedAccessToken:
        """Verifies an access token that your API got. A `dpop` proof can be used once."""
        uses_up = bool(options.get("dpop"))
        members = {"token": token, **options}
        return self._call("/v1/access-tokens/verify", members, 200, models.VerifiedAccessToken, uses_up=uses_up, slow=False)

    def resource_metadata(self, resource: str) -> dict[str, Any]:
        """The metadata of a resource of Assay's settings (RFC 9728). Serve it as it is."""
        path = f"/v1/resources/{urllib.parse.quote(resource, safe='')}/metadata"
        return self._call(path, None, 200, dict[str, Any])

    def verify_notification(
        self, *, token: str | None = None, payload: Any = None, provider: str | None = None,
        **options: Unpack[models.NotificationOptions],
    ) -> models.VerifiedNotification:  # fmt: skip
        """Verifies what a provider sent: `token`, or `payload`, the body that Apple sent."""
        every = {"token": token, "payload": payload, "provider": provider, **options}
        members = {name: value for name, value in every.items() if value is not None}
        return self._call("/v1/notifications/verify", members, 200, models.VerifiedNotification)

    def _call(
        self, path: str, members: dict[str, Any] | None, success: int, kind: type[Answer] | None, *,
        uses_up: bool = False, slow: bool | None = None,
    ) -> Answer:  # fmt: skip
        body, headers = b"", self._authorization()
        if members is not None:
            body, headers["Content-Type"] = json.dumps(members).encode(), "application/json"
        timeout = self._finish_timeout if (uses_up if slow is None else slow) else self._timeout
        end, lost = self._transport.now() + self._retry_for, 0
        while True:
            try:
                reply = self._transport.send(path, body, headers, timeout, uses_up)
            except NoAnswer as failure:
                problem = error(0, detail=failure.detail, spent=uses_up and failure.sent)
                wait = min(0.05 * (2**lost - 1), 1)
                lost += 1
            else:
                if reply.status == success:
                    try:
                        answer: Answer = read(kind, reply.body)
                        return answer
                    except NotAssays:
                        raise error(reply.status, spent=uses_up) from None
                problem = _problem(reply, uses_up)
                wait = problem.retry_after or 1
            if not problem.may_retry or self._transport.now() + wait > end:
                raise problem
            self._transport.sleep(wait)

    def _authorization(self) -> dict[str, str]:
        key = self._api_key
        if self._api_key_file is not None:
            key = self._api_key_file.read_text(encoding="ascii").strip()
            if not key:
                raise ValueError(f"the API key's file {self._api_key_file} is empty")
        return {} if key is None else {"Authorization": f"Bearer {key}"}


def _problem(reply: Reply, uses_up: bool) -> AssayError:
    try:
        members = json.loads(reply.body)
    except ValueError:
        members = None
    members = members if isinstance(members, dict) else {}
    names = ("code", "detail", "request_id", "claim", "provider_error", "context", "dpop_nonce")
    known: dict[str, Any] = {name: members[name] for name in names if isinstance(members.get(name), str)}
    known["challenge"] = part(models.Challenge, members.get("challenge"))
    spent = members.get("spent")
    if not isinstance(spent, bool):
        # Assay's verifications don't say. What is not Assay's answer may stand in the place of one.
        spent = "code" not in known or reply.status == 503 and known["code"] not in EARLY
    # A verification needs the store only for a single-use nonce or a proof.
    uses_up |= known.get("code") == "store_unavailable" and "spent" not in members
    return error(reply.status, **known, spent=uses_up and spent, retry_after=reply.retry_after, members=members)
