"""Our own provider, built with Authlib, for behavior that other providers can't be configured to have."""

import contextlib
import sys
import tempfile
from pathlib import Path

from . import jwk
from .browser import Browser, with_query
from .process import Process
from .sign_in import SignIn, new_nonce
from harness.waiting import free_port

_PACKAGE = Path(__file__).parent


class AuthlibProvider(contextlib.AbstractContextManager):
    """A provider that signs with ES256 by default."""

    client_id = "authlib-client"
    client_secret = "client-secret"
    assertion_audience = "issuer"
    redirect_uri = "http://127.0.0.1/callback"
    subject = "maria"

    def __init__(self):
        # The private key of the client that authenticates with `private_key_jwt`.
        self.client_key = jwk.new_client_key()

    def client_id_with(self, authentication: str) -> str:
        return f"{self.client_id}-with-{authentication}"

    def __enter__(self) -> "AuthlibProvider":
        with contextlib.ExitStack() as stack:
            self._directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="authlib-provider-")))
            self._client_key = self._directory / "client-key.pem"
            self._client_key.write_text(jwk.public_pem(self.client_key))
            self._port = free_port()
            self.issuer = f"http://127.0.0.1:{self._port}"
            stack.callback(self.stop)
            self.start("first")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._stack.close()

    def stop(self) -> None:
        """Simulates an outage."""
        self._process.stop()

    def start(self, key_id: str) -> None:
        """Starts the provider, also after `stop`, with only a new key with this ID."""
        self._process = Process(
            [sys.executable, "-m", f"{_PACKAGE.name}.authlib_server", str(self._port), key_id, str(self._client_key)],
            f"{self.issuer}/keys", self._directory / "log", {"PYTHONPATH": str(_PACKAGE.parent)},
        )
        self._process.start()

    def rotate(self, algorithm: str = "ES256", *, key_id: str | None, keep_old: bool = False) -> None:
        """Signs with a new key from now on. Without a key ID, tokens have no `kid`."""
        order = {"alg": algorithm, "kid": key_id, "keep_old": keep_old}
        Browser().send_json("POST", f"{self.issuer}/_admin/rotate", order).expect(204)

    @contextlib.contextmanager
    def claims(self, **changes):
        """Within the block, changes these claims or removes them (`None`). Signatures stay valid."""
        self._change_claims(changes)
        try:
            yield
        finally:
            self._change_claims({})

    def answer_for(self, authorization_url: str, subject: str | None = None) -> dict[str, str]:
        """Signs in a user; returns the parameters of the redirect. Only `maria` exists, and others are denied."""
        browser = Browser()
        browser.get(authorization_url).expect()
        return browser.post_form(authorization_url, {"subject": subject or self.subject}).redirect_parameters

    @property
    def grants(self) -> int:
        """The number of valid refresh tokens."""
        return Browser().get(f"{self.issuer}/_admin/grants").expect().json

    @property
    def questions(self) -> int:
        """How many tokens the provider was asked about."""
        return Browser().get(f"{self.issuer}/_admin/questions").expect().json

    def revoke(self, token: str) -> None:
        Browser().post_form(f"{self.issuer}/revoke", {"token": token}, basic=(self.client_id, self.client_secret)).expect()

    def sign_in(self, with_nonce: bool = True, nonce: str | None = None) -> SignIn:
        """Runs the authorization code flow: login form, redirect, token endpoint."""
        nonce = (nonce or new_nonce()) if with_nonce else None
        query = {
            "response_type": "code", "client_id": self.client_id, "redirect_uri": self.redirect_uri, "scope": "openid",
            "state": "a-state",
        } | ({"nonce": nonce} if nonce else {})
        address = with_query(f"{self.issuer}/authorize", query)
        browser = Browser()
        browser.get(address).expect()
        code = browser.post_form(address, {"subject": self.subject}).redirect_parameters["code"]
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect_uri}
        credentials = (self.client_id, self.client_secret)
        answer = Browser().post_form(f"{self.issuer}/token", form, basic=credentials).expect().json
        return SignIn(self.client_id, answer["id_token"], answer["access_token"], nonce, code)

    def _change_claims(self, changes: dict) -> None:
        Browser().send_json("POST", f"{self.issuer}/_admin/claims", changes).expect(204)
