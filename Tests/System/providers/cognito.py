"""Cognito, emulated by moto from PyPI: tokens of user pools.

The issuer is an Amazon URL, as for the real service, but the keys are moto's. ID Tokens and access tokens have the same
issuer, key and form. All pools share one key, named `dummy`, so only `iss` and `aud` distinguish them.
"""

import contextlib
import sys
import tempfile
from pathlib import Path

from .browser import Browser
from .process import Process
from .sign_in import SignIn
from harness.waiting import free_port

_REGION = "eu-central-1"
_PASSWORD = "Correct-Horse-1"
# moto reads the service and the region from here, and does not check the signature.
_AUTHORIZATION = f"AWS4-HMAC-SHA256 Credential=test/20260101/{_REGION}/cognito-idp/aws4_request"


class Cognito(contextlib.AbstractContextManager):
    """A moto server with user pools."""

    def __enter__(self) -> "Cognito":
        with contextlib.ExitStack() as stack:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="moto-")))
            port = free_port()
            self.endpoint = f"http://127.0.0.1:{port}"
            command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
            process = Process(command, f"{self.endpoint}/moto-api/", directory / "log")
            stack.callback(process.stop)
            process.start()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._stack.close()

    def new_pool(self) -> "UserPool":
        return UserPool(self)

    def call(self, operation: str, **parameters) -> dict:
        headers = {
            "Content-Type": "application/x-amz-json-1.1", "Authorization": _AUTHORIZATION,
            "X-Amz-Target": f"AWSCognitoIdentityProviderService.{operation}",
        }
        return Browser().send_json("POST", self.endpoint, parameters, headers).expect().json


class UserPool:
    """A user pool: an issuer with one client and one user."""

    email = "maria@example.com"

    def __init__(self, cognito: Cognito):
        self._call = cognito.call
        pool = self._call("CreateUserPool", PoolName="pool", UsernameAttributes=["email"])["UserPool"]["Id"]
        self.issuer = f"https://cognito-idp.{_REGION}.amazonaws.com/{pool}"
        self.jwks_uri = f"{cognito.endpoint}/{pool}/.well-known/jwks.json"
        client = self._call("CreateUserPoolClient", UserPoolId=pool, ClientName="client")
        self.client_id = client["UserPoolClient"]["ClientId"]
        user = {"UserPoolId": pool, "Username": self.email}
        self._call("AdminCreateUser", **user, UserAttributes=[{"Name": "email", "Value": self.email}])
        self._call("AdminSetUserPassword", **user, Password=_PASSWORD, Permanent=True)

    def sign_in(self) -> SignIn:
        """Signs in with user name and password, without a redirect or a nonce."""
        answer = self._call(
            "InitiateAuth", ClientId=self.client_id, AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": self.email, "PASSWORD": _PASSWORD},
        )
        tokens = answer["AuthenticationResult"]
        return SignIn(self.client_id, tokens["IdToken"], tokens["AccessToken"], nonce=None)
