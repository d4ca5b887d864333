"""The service that the conformance cases call, the issuers that it trusts, and the values of the cases' placeholders."""

import hashlib
import json
import pathlib
import urllib.parse

from requests_oauth2client import DPoPKey

from harness.certificates import Authority
from harness.issuer import KeyServer
from harness.service import Service, apple_like, google_like, provider
from harness.token_endpoint import TOKEN, TokenEndpoint, error, grant
from harness.tokens import b64url, ec_key, jws, now, rsa_key, sha256_hex

API_KEY = "the-backend's-0123456789"
API = "https://api.example/"
REDIRECT_URI = "https://example.com/callback/oidc"
SIGNED_OUT = "https://example.com/signed-out"
RESOURCE = {"id": "orders", "resource": API, "providers": ["api"], "authorization_servers": ["https://login.example.com/"]}
LOGOUT = "http://schemas.openid.net/event/backchannel-logout"


class World:
    """Three services with the same settings: on TCP, on a Unix domain socket, and with TLS."""

    def __init__(self, key_server: KeyServer, endpoint: TokenEndpoint, directory: pathlib.Path):
        names = {"apple": rsa_key("apple"), "google": rsa_key("google"), "oidc": ec_key("oidc"), "down": ec_key("down"), "api": ec_key("api"), "bound": ec_key("bound")}
        self.issuers = {name: key_server.issuer(name, key) for name, key in names.items()}
        self.issuers["down"].jwks.status = 500
        oidc = self.issuers["oidc"]
        oidc.discovery.body = oidc.discovery_document(end_session_endpoint="https://op.example/logout")
        self.endpoint = endpoint
        self.proof_key = DPoPKey.generate(alg="ES256")
        self.api_key_file = directory / "api-key"
        self.api_key_file.write_text(API_KEY + "\n")
        secret = directory / "secret"
        secret.write_text("secret\n")
        secret.chmod(0o600)
        authority = Authority(directory)
        self.listeners = {
            "assay": ({"listen": "127.0.0.1:0"}, None),
            "unix": ({"listen": f"unix:{directory}/assay.sock"}, None),
            "tls": ({"listen": "127.0.0.1:0", "tls": self._tls(authority)}, authority.client_context()),
        }
        self.ca_file = str(authority.certificate_file)
        client = {"id": "client", "auth": "client_secret_basic", "secret_file": str(secret), "redirect_uris": [REDIRECT_URI]}
        client["post_logout_redirect_uris"] = [SIGNED_OUT]
        bound = {"id": "client", "auth": "none", "redirect_uris": ["https://example.com/callback/bound"], "sender_constraint": "dpop"}
        bound["dpop_origins"] = ["https://api.example"]
        endpoints = {name: endpoint.endpoints[name] for name in ("token", "revocation")}
        self.providers = [
            apple_like(self.issuers["apple"], notifications=["apple"]),
            google_like(self.issuers["google"]),
            provider(self.issuers["oidc"], notifications=["logout"], clients=[client], endpoints=endpoints),
            provider(self.issuers["bound"], "bound", clients=[bound], endpoints=endpoints),
            provider(self.issuers["down"], "down", optional=True),
            provider(self.issuers["api"], "api", tokens="access", audiences=[API]),
        ]
        self.services: dict[str, Service] = {}

    def _tls(self, authority: Authority) -> dict:
        file = str(authority.server_file())
        return {"certificate_file": file, "key_file": file}

    def client(self, server: str) -> dict:
        """The options of a client of one of the services, which is started when it is first needed."""
        if server not in self.services:
            service, context = self.listeners[server]
            self.services[server] = Service(
                *self.providers, service=service, context=context, api_keys=[sha256_hex(API_KEY)], sign_ins={}, dpop={},
                resources=[RESOURCE],
            )  # fmt: skip
            self.services[server].wait_until_ready()
        listen = self.listeners[server][0]["listen"]
        if server == "unix":
            return {"url": listen, "api_key": API_KEY}
        if server == "tls":
            return {"url": f"https://{self.services[server].api.address}", "api_key": API_KEY, "ca_file": self.ca_file}
        return {"url": f"http://{self.services[server].api.address}", "api_key": API_KEY}

    def stop(self) -> None:
        for service in self.services.values():
            with service:
                pass

    def script(self, acts: list[dict], kept: dict) -> None:
        """Scripts the provider's token endpoint."""
        self.endpoint.heal()
        self.endpoint.forget()
        for act in acts:
            if "error" in act:
                self.endpoint.play(error(act["error"], *([act["status"]] if "status" in act else [])))
            else:
                self.endpoint.play(grant(**self.value(act["grant"], kept)))

    def endpoint_requests(self) -> int:
        return self.endpoint.received(TOKEN)

    def value(self, form, kept: dict):
        """Replaces the placeholders of a case: objects whose first member begins with `$`."""
        if form == "$api_key_file":
            return str(self.api_key_file)
        if form == "$jkt":
            return self.proof_key.dpop_jkt
        if isinstance(form, list):
            return [self.value(each, kept) for each in form]
        if not isinstance(form, dict):
            return form
        name = next(iter(form), "")
        if not name.startswith("$"):
            return {member: self.value(each, kept) for member, each in form.items()}
        inner = self.value(form[name], kept)
        if name == "$id_token":
            return self.issuers[inner].token(**self.value(form["claims"], kept))
        return {
            "$kept": lambda: kept[inner],
            "$now": lambda: now() + inner,
            "$sha256": lambda: sha256_hex(inner),
            "$nonce_of": lambda: dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(inner).query))["nonce"],
            "$access_token": lambda: self._access_token(inner),
            "$proof": lambda: self._proof(inner),
            "$apple_event": lambda: self._apple_event(inner),
            "$logout_token": lambda: self._logout_token(inner),
        }[name]()

    def _access_token(self, claims: dict) -> str:
        usual = {"aud": API, "client_id": "app", "jti": "a1", "scope": "openid orders:read"}
        issuer = self.issuers["api"]
        return jws(issuer.keys[0], issuer.claims(**(usual | claims)), typ="at+jwt")

    def _proof(self, token: str) -> str:
        return str(self.proof_key.proof(htm="GET", htu=API + "orders", ath=b64url(hashlib.sha256(token.encode()).digest())))

    def _apple_event(self, event: dict) -> str:
        issuer = self.issuers["apple"]
        return jws(issuer.keys[0], issuer.claims(sub=None, jti="n1", events=json.dumps(event)), typ=None)

    def _logout_token(self, claims: dict) -> str:
        issuer = self.issuers["oidc"]
        return jws(issuer.keys[0], issuer.claims(jti="l1", events={LOGOUT: {}}, **claims), typ="logout+jwt")
