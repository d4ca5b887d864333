"""oidc-provider-mock, from PyPI: a provider built with Authlib that sends the minimum that the specification allows.

Its tokens have no `kid`, its only key is published without `alg` and `use`, and `aud` is an array. It generates a key at
each start, so after a restart, the same issuer signs with an unannounced key.
"""

import contextlib
import json
import sys
import tempfile
from pathlib import Path

from .browser import Browser, with_query
from .process import Process
from .sign_in import SignIn, new_nonce
from harness.waiting import free_port


class MockProvider(contextlib.AbstractContextManager):
    """An oidc-provider-mock with one user. Any client may request tokens."""

    client_id = "mock-client"
    client_secret = "any-secret"
    redirect_uri = "http://127.0.0.1/callback"
    subject = "maria"
    user_claims = {"name": "Maria Muster", "email": "maria@example.com", "email_verified": True}

    def __enter__(self) -> "MockProvider":
        with contextlib.ExitStack() as stack:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="oidc-provider-mock-")))
            port = free_port()
            self.issuer = f"http://127.0.0.1:{port}"
            user = json.dumps({"sub": self.subject} | self.user_claims)
            self._process = Process(
                [
                    sys.executable, "-m", "oidc_provider_mock", "--host", "127.0.0.1", "--port", str(port),
                    "--user-claims", user,
                ],
                self.issuer,
                directory / "log",
                # Authlib rejects plain HTTP otherwise.
                {"AUTHLIB_INSECURE_TRANSPORT": "1"},
            )
            stack.callback(self._process.stop)
            self._process.start()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._stack.close()

    def restart(self) -> None:
        """Restarts the provider with the same issuer and a new key."""
        self.stop()
        self.start()

    def stop(self) -> None:
        """Simulates an outage."""
        self._process.stop()

    def start(self) -> None:
        """Starts the provider again after `stop`, with a new key."""
        self._process.start()

    def sign_in(self, nonce: str | None = None) -> SignIn:
        """Runs the authorization code flow: the provider's form, the redirect, the token endpoint."""
        nonce = nonce or new_nonce()
        query = {
            "response_type": "code", "client_id": self.client_id, "redirect_uri": self.redirect_uri,
            "scope": "openid profile email", "nonce": nonce, "state": "a-state",
        }
        code = self.answer_for(with_query(f"{self.issuer}/oauth2/authorize", query))["code"]
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect_uri}
        token_endpoint = f"{self.issuer}/oauth2/token"
        answer = Browser().post_form(token_endpoint, form, basic=(self.client_id, self.client_secret)).expect().json
        return SignIn(self.client_id, answer["id_token"], answer["access_token"], nonce, code)

    def client_id_with(self, authentication: str) -> str:
        """The client's ID. Any client may authenticate in any way."""
        return self.client_id

    def answer_for(self, authorization_url: str) -> dict[str, str]:
        """Picks the user on the provider's form; returns the parameters of the redirect."""
        browser = Browser()
        browser.get(authorization_url).expect()
        return browser.post_form(authorization_url, {"sub": self.subject}).redirect_parameters
