"""An OpenID Provider built with Authlib, run as `python -m providers.authlib_server PORT KEY_ID CLIENT_KEY`.

Each run generates a new key with this ID. CLIENT_KEY is a PEM file with the clients' public key. The provider implements
Authlib's authorization code flow, and can be told to misbehave as no honest provider would. All its tokens have valid
signatures.

    POST /_admin/rotate   {"alg": "ES256", "kid": "next", "keep_old": true}   signs with a new key from now on;
                                                                              "kid": null omits it from the header
    POST /_admin/claims   {"aud": "another-client", "sub": null}              changes claims of tokens issued from now
                                                                              on, or removes them (null)
    GET  /_admin/grants                                                       how many refresh tokens are valid
    GET  /_admin/questions                                                    how many tokens were asked about

A client whose ID ends in `-with-METHOD` authenticates by this method, others by HTTP Basic. It may send a PKCE challenge,
and then must send the verifier. A refresh token is replaced at each use. Access tokens are opaque: each client may ask about
them at the introspection endpoint (RFC 7662), and revoke them.
"""

import os
import sys
import time
from pathlib import Path

# Authlib rejects plain HTTP otherwise; read at import.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from authlib.oauth2.rfc9207 import IssuerParameter
from authlib.oidc.core import AuthorizationCodeMixin
from authlib.oidc.core.grants import OpenIDCode
from flask import Flask, jsonify, request
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OKPKey, RSAKey

CLIENT_SECRET = "client-secret"
REDIRECT_URIS = ["http://127.0.0.1/callback", "https://example.com/callback/authlib"]
USER = {"sub": "maria", "name": "Maria Muster", "email": "maria@example.com", "email_verified": True}
# By their registered names; Authlib has a name of its own for assertions.
AUTHENTICATIONS = ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"]
_METHODS = [{"private_key_jwt": JWTBearerClientAssertion.CLIENT_AUTH_METHOD}.get(name, name) for name in AUTHENTICATIONS]
_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521", "ES256K": "secp256k1"}


class Signer:
    """The published keys, the signing key, and the changes to claims."""

    def __init__(self, key_id: str):
        self.published = []
        self.claims = {}
        self.rotate("ES256", key_id, keep_old=False)

    def rotate(self, algorithm: str, key_id: str | None, keep_old: bool) -> None:
        # Keys are published with an ID even if tokens don't name it.
        parameters = {"use": "sig", "alg": algorithm, "kid": key_id or f"unnamed-{len(self.published)}"}
        self.key = _new_key(algorithm, parameters)
        self.header = {"alg": algorithm} | ({"kid": key_id} if key_id else {})
        self.published = [self.key] + (self.published if keep_old else [])

    def changed(self, id_token: str) -> str:
        if not self.claims:
            return id_token
        algorithms = [self.header["alg"]]
        claims = jwt.decode(id_token, self.key, algorithms).claims | self.claims
        kept = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(self.header, kept, self.key, algorithms)


def _new_key(algorithm: str, parameters: dict):
    if algorithm in _CURVES:
        return ECKey.generate_key(_CURVES[algorithm], parameters)
    if algorithm.startswith("Ed"):
        return OKPKey.generate_key("Ed25519", parameters)
    return RSAKey.generate_key(2048, parameters)


class Client(ClientMixin):
    """A client with any name, which the provider's tests choose."""

    def __init__(self, client_id: str):
        self.client_id = client_id
        authentication = client_id.partition("-with-")[2] or AUTHENTICATIONS[0]
        self._method = dict(zip(AUTHENTICATIONS, _METHODS)).get(authentication)

    def get_client_id(self):
        return self.client_id

    def get_allowed_scope(self, scope):
        return scope

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri in REDIRECT_URIS or redirect_uri.startswith("http://localhost:")

    def check_client_secret(self, client_secret):
        return client_secret == CLIENT_SECRET

    def check_endpoint_auth_method(self, method, endpoint):
        return method == self._method

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type in ("authorization_code", "refresh_token")


class Code(AuthorizationCodeMixin):
    """An authorization code that was issued."""

    def __init__(self, payload):
        # Copied, because the payload belongs to the current request.
        self.redirect_uri = payload.redirect_uri
        self.scope = payload.scope
        self.nonce = payload.data.get("nonce")
        self.code_challenge = payload.data.get("code_challenge")
        self.code_challenge_method = payload.data.get("code_challenge_method")

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return None

    def get_acr(self):
        return None

    def get_amr(self):
        return None


class RefreshToken(TokenMixin):
    """A refresh token that was issued to a client."""

    def __init__(self, client_id: str, scope: str):
        self.client_id = client_id
        self.scope = scope

    def check_client(self, client):
        return client.client_id == self.client_id

    def get_scope(self):
        return self.scope


class AccessToken(RefreshToken):
    """An access token that was issued to a client."""

    def __init__(self, client_id: str, token: dict):
        super().__init__(client_id, token.get("scope", ""))
        self.issued_at = int(time.time())
        self.expires_at = self.issued_at + token["expires_in"]

    def is_expired(self):
        return time.time() >= self.expires_at

    def is_revoked(self):
        return False


def make_app(issuer: str, key_id: str, client_key: ECKey) -> Flask:
    app = Flask(__name__)
    app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
    signer = Signer(key_id)
    codes: dict[tuple[str, str], Code] = {}
    refresh_tokens: dict[str, RefreshToken] = {}
    access_tokens: dict[str, AccessToken] = {}
    questions: list[str] = []

    assertions: set[str] = set()

    class CodeGrant(grants.AuthorizationCodeGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = _METHODS

        def save_authorization_code(self, code, request):
            codes[request.client.client_id, code] = Code(request.payload)

        def query_authorization_code(self, code, client):
            # Single-use: the first request removes it.
            return codes.pop((client.client_id, code), None)

        def delete_authorization_code(self, authorization_code):
            pass

        def authenticate_user(self, authorization_code):
            return USER

    class IDTokens(OpenIDCode):
        def exists_nonce(self, nonce, request):
            return any(code.get_nonce() == nonce for code in codes.values())

        def get_client_algorithm(self, client):
            return signer.header["alg"]

        def get_encode_header(self, client):
            return signer.header

        def get_client_claims(self, client):
            return {"iss": issuer, "aud": client.get_client_id()}

        def resolve_client_private_key(self, client):
            return signer.key

        def generate_user_info(self, user, scope):
            return user

        def encode_id_token(self, token, request):
            return signer.changed(super().encode_id_token(token, request))

    class RefreshGrant(grants.RefreshTokenGrant):
        INCLUDE_NEW_REFRESH_TOKEN = True
        TOKEN_ENDPOINT_AUTH_METHODS = _METHODS

        def authenticate_refresh_token(self, refresh_token):
            # Single-use: the first request removes it.
            return refresh_tokens.pop(refresh_token, None)

        def authenticate_user(self, refresh_token):
            return USER

        def revoke_old_credential(self, refresh_token):
            pass

    class Revocation(RevocationEndpoint):
        CLIENT_AUTH_METHODS = _METHODS

        def query_token(self, token_string, token_type_hint):
            return refresh_tokens.get(token_string) or access_tokens.get(token_string)

        def revoke_token(self, token, request):
            refresh_tokens.pop(request.form["token"], None)
            access_tokens.pop(request.form["token"], None)

    class Introspection(IntrospectionEndpoint):
        CLIENT_AUTH_METHODS = _METHODS

        def query_token(self, token_string, token_type_hint):
            questions.append(token_type_hint)
            return access_tokens.get(token_string)

        def check_permission(self, token, client, request):
            return True

        def introspect_token(self, token):
            return {
                "client_id": token.client_id, "token_type": "Bearer", "scope": token.scope, "sub": USER["sub"], "iss": issuer,
                "aud": f"{issuer}/api", "exp": token.expires_at, "iat": token.issued_at,
            }

    class Assertion(JWTBearerClientAssertion):
        def get_audiences(self):
            return [issuer]

        def validate_jti(self, claims, jti):
            # Each assertion serves one request.
            is_new = jti not in assertions
            assertions.add(jti)
            return is_new

        def resolve_client_public_key(self, client):
            return client_key

    class Issuer(IssuerParameter):
        def get_issuer(self):
            return issuer

    def save_token(token, request):
        if "refresh_token" in token:
            refresh_tokens[token["refresh_token"]] = RefreshToken(request.client.client_id, token.get("scope", ""))
        access_tokens[token["access_token"]] = AccessToken(request.client.client_id, token)

    server = AuthorizationServer(app, query_client=Client, save_token=save_token)
    server.register_grant(CodeGrant, [IDTokens(require_nonce=False), CodeChallenge(required=False)])
    server.register_grant(RefreshGrant)
    server.register_endpoint(Revocation)
    server.register_endpoint(Introspection)
    server.register_extension(Issuer())
    server.register_client_auth_method(Assertion.CLIENT_AUTH_METHOD, Assertion())

    @app.get("/.well-known/openid-configuration")
    def metadata():
        return jsonify(
            issuer=issuer, jwks_uri=f"{issuer}/keys", authorization_endpoint=f"{issuer}/authorize",
            token_endpoint=f"{issuer}/token", revocation_endpoint=f"{issuer}/revoke",
            introspection_endpoint=f"{issuer}/introspect",
            response_types_supported=["code"], subject_types_supported=["public"],
            code_challenge_methods_supported=["S256"], authorization_response_iss_parameter_supported=True,
            id_token_signing_alg_values_supported=sorted({key.alg for key in signer.published}),
        )

    @app.get("/keys")
    def keys():
        return jsonify(KeySet(signer.published).as_dict(private=False))

    @app.get("/authorize")
    def login_form():
        return '<form method="post">Sign in as <input name="subject"><button>Sign in</button></form>'

    @app.post("/authorize")
    def authorize():
        user = USER if request.form.get("subject") == USER["sub"] else None
        return server.create_authorization_response(
            grant=server.get_consent_grant(end_user=user), grant_user=user
        )

    @app.post("/token")
    def token():
        return server.create_token_response()

    @app.post("/revoke")
    def revoke():
        return server.create_endpoint_response("revocation")

    @app.post("/introspect")
    def introspect():
        return server.create_endpoint_response("introspection")

    @app.get("/_admin/questions")
    def count_questions():
        return jsonify(len(questions))

    @app.get("/_admin/grants")
    def count_grants():
        return jsonify(len(refresh_tokens))

    @app.post("/_admin/rotate")
    def rotate():
        order = request.get_json()
        signer.rotate(order["alg"], order["kid"], order["keep_old"])
        return "", 204

    @app.post("/_admin/claims")
    def change_claims():
        signer.claims = request.get_json()
        return "", 204

    return app


if __name__ == "__main__":
    port = int(sys.argv[1])
    client_key = ECKey.import_key(Path(sys.argv[3]).read_bytes())
    make_app(f"http://127.0.0.1:{port}", sys.argv[2], client_key).run("127.0.0.1", port)
