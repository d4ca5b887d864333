"""glewlwyd, from Debian: a provider in C on GnuTLS, with its own JOSE library (Rhonabwy).

Peculiarities that a verifier must handle: `auth_time` is 0, the JWK Set is sent with `Cache-Control: no-store`, the
issuer has a path, discovery lists an algorithm that Assay does not support (ES256K), and with EdDSA, `at_hash` and
`c_hash` use SHA-256. The audience of clients' assertions must be the endpoint. Refusals of a refresh token (400), and of a
client at the revocation endpoint (401), have no body. The revocation endpoint refuses public clients. A certificate with
another name is refused without a body (403), and the UserInfo endpoint asks for none.
"""

import contextlib
import json
import sqlite3
import tempfile
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from . import jwk
from .browser import Browser, Page, with_query
from .process import Process
from .sign_in import SignIn, new_nonce
from harness.certificates import Authority
from harness.waiting import free_port

# glewlwyd does not know the new name "Ed25519" (RFC 9864).
ALGORITHMS = [algorithm for algorithm in jwk.ALGORITHMS if algorithm != "Ed25519"]

_EXECUTABLE = "/usr/bin/glewlwyd"
_MODULES = "/usr/lib/glewlwyd"
_SCHEMA = Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
# The administrator in the initial schema.
_ADMINISTRATOR = {"username": "admin", "password": "password"}
_USER = {"username": "maria", "password": "correct horse battery"}
# There is a client for each of these ways to authenticate. Clients that are named after an algorithm use HTTP Basic.
_AUTHENTICATIONS = ["client_secret_post", "private_key_jwt", "none"]
# The name in the certificate of the client that authenticates by it.
CERTIFIED_NAME = "client.example"
_PLUGIN = "oidc"
# The client property that names its key; the client database stores this one by default.
_KEY_ID_PROPERTY = "alg_kid"


class Glewlwyd(contextlib.AbstractContextManager):
    """A glewlwyd with one user, and one key and one client per algorithm.

    The client `encrypted_client_id` gets encrypted ID Tokens. `client_id_with` returns clients that authenticate in other
    ways than HTTP Basic.
    """

    encrypted_client_id = "client-encrypted"
    client_secret = "client-secret"
    assertion_audience = "token_endpoint"
    redirect_uri = "http://127.0.0.1/callback/glewlwyd"

    name = "Maria Muster"
    email = "maria@example.com"

    def __init__(self, algorithms: list[str] = ALGORITHMS, authority: Authority | None = None, **parameters):
        """With an `authority`, it is served over TLS, and has a client that authenticates by a certificate of it.
        `parameters` are of the plugin, with `_` in place of `-`.
        """
        self._algorithms = algorithms
        self._authority = authority
        self._context = authority and authority.client_context()
        self._parameters = {name.replace("_", "-"): value for name, value in parameters.items()}
        self._generation = 0
        # The private key of the client that authenticates with `private_key_jwt`.
        self.client_key = jwk.new_client_key()
        self._keys = self._new_keys()

    def client_id(self, algorithm: str) -> str:
        return f"client-{algorithm.lower()}"

    def client_id_with(self, authentication: str) -> str:
        return f"client-with-{authentication}" if authentication in self._authentications else self.client_id(self._algorithms[0])

    @property
    def _authentications(self) -> list[str]:
        return _AUTHENTICATIONS + (["tls_client_auth"] if self._authority else [])

    @property
    def client_ids(self) -> list[str]:
        return [self.client_id(algorithm) for algorithm in self._algorithms] + [self.encrypted_client_id]

    def key_id(self, algorithm: str) -> str:
        return f"{algorithm.lower()}-{self._generation}"

    def __enter__(self) -> "Glewlwyd":
        with contextlib.ExitStack() as stack:
            if not Path(_EXECUTABLE).exists():
                raise RuntimeError("glewlwyd is not installed: run scripts/bootstrap")
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="glewlwyd-")))
            port = free_port()
            base = f"{'https' if self._authority else 'http'}://127.0.0.1:{port}"
            self._api = f"{base}/api"
            self.issuer = f"{self._api}/{_PLUGIN}"
            _make_database(directory / "database.sqlite3")
            settings = _settings(port, base, directory / "database.sqlite3") + self._tls_settings()
            (directory / "glewlwyd.conf").write_text(settings)
            self._process = Process(
                [_EXECUTABLE, "--config-file", str(directory / "glewlwyd.conf")], f"{self._api}/config",
                directory / "log", context=self._context,
            )
            stack.callback(self._process.stop)
            self._process.start()
            self._administrator = self._logged_in(_ADMINISTRATOR)
            self._set_up()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._stack.close()

    def sign_in(self, algorithm: str, nonce: str | None = None) -> SignIn:
        """Signs the user in at the client for an algorithm."""
        return self.sign_in_at(self.client_id(algorithm), nonce)

    def sign_in_at(self, client_id: str, nonce: str | None = None) -> SignIn:
        """Runs the authorization code flow: the user's login and consent, the redirect, the token endpoint."""
        nonce = nonce or new_nonce()
        query = {
            "response_type": "code", "client_id": client_id, "redirect_uri": self.redirect_uri, "scope": "openid",
            "nonce": nonce, "state": "a-state",
        }
        code = self.answer_for(with_query(f"{self.issuer}/auth", query))["code"]
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect_uri}
        browser = Browser(self._context)
        answer = browser.post_form(f"{self.issuer}/token", form, basic=(client_id, self.client_secret)).expect().json
        return SignIn(client_id, answer["id_token"], answer["access_token"], nonce, code)

    def answer_for(self, authorization_url: str) -> dict[str, str]:
        """Logs in and consents as the user; returns the parameters of the redirect."""
        client_id = dict(parse_qsl(urlsplit(authorization_url).query))["client_id"]
        browser = self._logged_in(_USER)
        browser.send_json("PUT", f"{self._api}/auth/grant/{client_id}", {"scope": "openid"}).expect()
        return browser.get(authorization_url + "&g_continue=").redirect_parameters

    def rotate(self, keep_old: bool = False) -> None:
        """Signs with new keys from now on. Unless `keep_old`, removes the old ones from the JWK Set at once."""
        self._generation += 1
        self._keys = self._new_keys() + (self._keys if keep_old else [])
        self._administer("PUT", f"mod/plugin/{_PLUGIN}", self._plugin())
        self._administer("PUT", f"mod/plugin/{_PLUGIN}/reset")
        for client in self._clients():
            self._administer("PUT", f"client/{client['client_id']}", client)

    def stop(self) -> None:
        """Simulates an outage."""
        self._process.stop()

    def start(self) -> None:
        """Starts the provider again after `stop`, with its last keys."""
        self._process.start()

    def _set_up(self) -> None:
        self._administer("POST", "mod/plugin/", self._plugin())
        self._administer("POST", "user/", _USER | {
            "name": self.name, "email": self.email, "enabled": True, "scope": ["openid", "g_profile"],
        })
        for client in self._clients():
            self._administer("POST", "client/", client)

    def _administer(self, method: str, path: str, value: dict | None = None) -> Page:
        return self._administrator.send_json(method, f"{self._api}/{path}", value).expect()

    def _clients(self) -> list[dict]:
        clients = [self._client(self.client_id(algorithm), algorithm) for algorithm in self._algorithms]
        # A key that is derived from the client's secret wraps the ID Token's content encryption key.
        encryption = {"encrypt_id_token": "1", "alg": "A256KW", "enc": "A256GCM"}
        return [*clients, self._client(self.encrypted_client_id, self._algorithms[0]) | encryption, *self._other_clients()]

    def _other_clients(self) -> list[dict]:
        """Adds a client for each other way to authenticate."""
        own = {
            "private_key_jwt": {"pubkey": jwk.public_pem(self.client_key)},
            "none": {"confidential": False, "client_secret": ""},
            "tls_client_auth": {"tls_client_auth_san_dns": CERTIFIED_NAME},
        }
        return [
            self._client(self.client_id_with(way), self._algorithms[0])
            | {"token_endpoint_auth_method": [way]} | own.get(way, {})
            for way in self._authentications
        ]

    def _client(self, client_id: str, algorithm: str) -> dict:
        return {
            "client_id": client_id, "name": client_id, "enabled": True, "confidential": True,
            "client_secret": self.client_secret, "token_endpoint_auth_method": ["client_secret_basic"],
            "redirect_uri": [self.redirect_uri], "scope": ["openid"],
            # The last scope allows revocation.
            "authorization_type": ["code", "refresh_token", "client_credentials"],
            _KEY_ID_PROPERTY: self.key_id(algorithm),
        }

    def _logged_in(self, user: dict[str, str]) -> Browser:
        browser = Browser(self._context)
        browser.send_json("POST", f"{self._api}/auth", user).expect()
        return browser

    def _tls_settings(self) -> str:
        if self._authority is None:
            return ""
        file = self._authority.server_file()
        return f"""
use_secure_connection = true
secure_connection_key_file = "{file}"
secure_connection_pem_file = "{file}"
secure_connection_ca_file = "{self._authority.certificate_file}"
"""

    def _new_keys(self) -> list[dict]:
        return [jwk.new_private_jwk(algorithm, self.key_id(algorithm)) for algorithm in self._algorithms]

    def _plugin(self) -> dict:
        return {
            "module": "oidc", "name": _PLUGIN, "display_name": "OpenID Connect", "enabled": True,
            "parameters": {
                "iss": self.issuer, "subject-type": "public", "jwks-show": True,
                "jwks-private": json.dumps({"keys": self._keys}), "client-sign_kid-parameter": _KEY_ID_PROPERTY,
                "encrypt-out-token-allow": True, "client-encrypt_id_token-parameter": "encrypt_id_token",
                "client-pubkey-parameter": "pubkey", "client-alg-parameter": "alg", "client-enc-parameter": "enc",
                "name-claim": "mandatory", "email-claim": "mandatory",
                "auth-type-code-enabled": True, "auth-type-token-enabled": False, "auth-type-password-enabled": False,
                "auth-type-client-enabled": False, "auth-type-refresh-enabled": True, "allow-non-oidc": False,
                "pkce-allowed": True, "request-parameter-allow": True, "introspection-revocation-allowed": True,
                "introspection-revocation-allow-target-client": True,
                "code-duration": 60, "access-token-duration": 3600, "refresh-token-duration": 3600,
                "refresh-token-rolling": False,
            } | ({"client-cert-source": "TLS"} if self._authority else {}) | self._parameters,
        }


def _make_database(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(_SCHEMA.read_text())


def _settings(port: int, base: str, database: Path) -> str:
    return f"""
port = {port}
bind_address = "127.0.0.1"
external_url = "{base}"
login_url = "login.html"
api_prefix = "api"
log_mode = "console"
log_level = "WARNING"
cookie_secure = 0
session_key = "session"
admin_scope = "g_admin"
profile_scope = "g_profile"
hash_algorithm = "SHA512"
user_module_path = "{_MODULES}/user"
user_middleware_module_path = "{_MODULES}/user_middleware"
client_module_path = "{_MODULES}/client"
user_auth_scheme_module_path = "{_MODULES}/scheme"
plugin_module_path = "{_MODULES}/plugin"
database = {{ type = "sqlite3"; path = "{database}"; }};
"""
