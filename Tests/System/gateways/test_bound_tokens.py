"""Tokens that are bound to a key, at each gateway: DPoP proofs, nonces, and certificates of TLS connections."""

import contextlib
import hashlib
import socketserver
import threading

import pytest

from access_tokens.test_dpop import Client, hash_of
from forward_auth.test_bound_tokens import OTHER, PEM, der, forms
from gateways.gateways import NAMES
from gateways.site import Conversation, Site, assay, request, token
from harness.certificates import Authority
from harness.faulty_proofs import Proofs, public
from harness.proofs import thumbprint as key_thumbprint
from harness.tokens import b64url, ec_key

ORIGIN = "https://shop.example"
HEADERS = {"method": {"header": "X-Forwarded-Method"}, "path": {"header": "X-Forwarded-Uri"}}
ITSELF = {"method": "request", "path": "request"}
# Where each gateway puts the client's certificate.
CERTIFICATES = {
    "nginx": {"header": "X-Client-Certificate", "form": "pem"},
    "envoy": {"header": "X-Forwarded-Client-Cert", "form": "xfcc"},
    "caddy": {"header": "Client-Cert", "form": "rfc9440"},
    "haproxy": {"header": "Client-Cert", "form": "rfc9440"},
}
# The time that a gateway waits, which a busy machine may need.
PATIENT = {
    "nginx": {"proxy_read_timeout 1200ms": "proxy_read_timeout 20s"},
    "envoy": {"timeout: 1.2s }": "timeout: 20s }"},
    "caddy": {"response_header_timeout 1200ms": "response_header_timeout 20s"},
    "haproxy": {},
}


def policies(name: str, **more) -> dict:
    url = {"origin": ORIGIN} | (ITSELF if name == "envoy" else HEADERS)
    policy = {"id": "api", "providers": ["api"], "request_url": url, "require": {"scopes": ["read"]}}
    policy |= {"client_certificate": CERTIFICATES[name]} | more
    return {"policies": [policy], "timeout": "10s", "keys_timeout": "10s"}


@pytest.fixture(scope="module", params=NAMES)
def site(request, issuer, tmp_path_factory):
    with bound_site(request.param, issuer, tmp_path_factory.mktemp(request.param)) as site:
        yield site


@contextlib.contextmanager
def bound_site(name: str, issuer, directory, changed=None, **policy):
    with assay(issuer, forward_auth=policies(name, **policy), dpop={}) as service:
        service.wait_until_ready()
        with Site(name, service.api.address, directory, changed=PATIENT[name] | (changed or {})) as site:
            site.service = service
            yield site


class Bound:
    """A client with a key."""

    def __init__(self, issuer):
        self.client = Client(issuer)

    def token(self, **claims) -> str:
        return token(self.client.issuer, **({"cnf": {"jkt": self.client.key.dpop_jkt}} | claims))

    def proof(self, token, method="GET", url=f"{ORIGIN}/orders", nonce=None) -> str:
        return str(self.client.key.proof(htm=method, htu=url, ath=hash_of(token), nonce=nonce))

    def fields(self, token, *proofs: str) -> list[tuple[str, str]]:
        return [("Authorization", f"DPoP {token}"), *(("DPoP", proof) for proof in proofs or [self.proof(token)])]


@pytest.fixture
def client(issuer) -> Bound:
    return Bound(issuer)


def test_a_proof_reaches_assay(site, client):
    good = client.token()
    received = site.passes(None, *client.fields(good))
    assert received.values("X-Auth-Subject") == ["user-1"]
    for method, target in (("POST", "/orders?page=2"), ("PUT", "/a/../orders"), ("DELETE", "/order%73")):
        if target == "/a/../orders" and site.name == "nginx":
            continue
        site.passes(None, *client.fields(good, client.proof(good, method)), method=method, target=target)


def test_each_failing_proof_is_challenged(site, client):
    good = client.token()
    other = Bound(client.client.issuer)
    once = client.proof(good)
    site.passes(None, *client.fields(good, once))
    cases = {
        "replayed": (client.fields(good, once), "invalid_dpop_proof"),
        "another method": (client.fields(good, client.proof(good, "POST")), "invalid_dpop_proof"),
        "another path": (client.fields(good, client.proof(good, url=f"{ORIGIN}/others")), "invalid_dpop_proof"),
        "another host": (client.fields(good, client.proof(good, url="https://evil.example/orders")), "invalid_dpop_proof"),
        "another token": (client.fields(good, client.proof(client.token(jti="x"))), "invalid_dpop_proof"),
        "junk": (client.fields(good, "x"), "invalid_dpop_proof"),
        "two": (client.fields(good, client.proof(good), client.proof(good)), "invalid_dpop_proof"),
        "another key": (client.fields(good, other.proof(good)), "invalid_token"),
        "none": ([("Authorization", f"DPoP {good}")], "invalid_token"),
        "as bearer": ([("Authorization", f"Bearer {good}"), ("DPoP", client.proof(good))], "invalid_token"),
        "unbound": ([("Authorization", f"DPoP {token(client.client.issuer)}")], "invalid_token"),
    }
    for case, (fields, error) in cases.items():
        response = site.denies(401, None, *fields)
        (challenge,) = response.all("WWW-Authenticate")
        assert challenge.startswith(f'DPoP error="{error}"'), case


def test_each_faulty_proof_is_refused(site, issuer):
    key = ec_key("faulty-proofs")
    bound = {"cnf": {"jkt": key_thumbprint(public(key))}}
    good = token(issuer, **bound)
    proofs = Proofs(key, good, "GET", f"{ORIGIN}/orders")
    site.passes(None, ("Authorization", f"DPoP {good}"), ("DPoP", proofs.proof()))
    for fault, proof in proofs.faulty().items():
        response = site.denies(401, None, ("Authorization", f"DPoP {good}"), ("DPoP", proof))
        assert response.header("WWW-Authenticate").startswith('DPoP error="invalid_dpop_proof"'), fault
    elsewhere = token(issuer, **bound, aud="https://other.example/")
    proof = Proofs(key, elsewhere, "GET", f"{ORIGIN}/orders").proof()
    response = site.denies(401, None, ("Authorization", f"DPoP {elsewhere}"), ("DPoP", proof))
    assert 'error="invalid_token"' in response.header("WWW-Authenticate")


def test_a_client_cannot_name_another_request(site, client):
    good = client.token()
    elsewhere = client.proof(good, "POST", f"{ORIGIN}/others")
    for fields in (
        [("X-Forwarded-Method", "POST"), ("X-Forwarded-Uri", "/others")],
        [("x-forwarded-method", "POST"), ("x-forwarded-uri", "/others")],
        [("X-Forwarded-Host", "shop.example"), ("X-Original-URI", "/others"), ("X-HTTP-Method-Override", "POST")],
    ):
        site.denies(401, None, *client.fields(good, elsewhere), *fields)
        site.passes(None, *client.fields(good, client.proof(good)), *fields)


def test_a_challenge_reaches_the_client_at_403(site, client):
    lesser = client.token(scope="write")
    response = site.denies(403, None, *client.fields(lesser))
    (challenge,) = response.all("WWW-Authenticate")
    assert challenge.startswith('Bearer error="insufficient_scope", scope="read", DPoP algs="')
    response = site.denies(401)
    (challenge,) = response.all("WWW-Authenticate")
    assert challenge.startswith('Bearer, DPoP algs="')


@pytest.mark.parametrize("name", NAMES)
def test_a_nonce_reaches_the_client_at_200_401_and_403(name, issuer, client, tmp_path):
    with bound_site(name, issuer, tmp_path / name, nonce="required") as site:
        good, lesser = client.token(), client.token(scope="write")
        response = site.denies(401, None, *client.fields(good))
        assert response.header("WWW-Authenticate").startswith('DPoP error="use_dpop_nonce"')
        (nonce,) = response.all("DPoP-Nonce")
        response = site.ask(None, *client.fields(good, client.proof(good, nonce=nonce)))
        assert response.status == 200, site.gateway.log()
        assert len(response.all("DPoP-Nonce")) == 1
        response = site.denies(403, None, *client.fields(lesser, client.proof(lesser, nonce=nonce)))
        assert len(response.all("DPoP-Nonce")) == 1


def test_no_nonce_is_made_up(site, client):
    good = client.token()
    response = site.ask(None, *client.fields(good))
    assert (response.status, response.all("DPoP-Nonce")) == (200, [])
    assert site.denies(401).all("DPoP-Nonce") == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "haproxy"])
@pytest.mark.parametrize("answered", [0, 1], ids=["at a new connection", "at a kept connection"])
def test_a_question_is_asked_once(name, answered, tmp_path):
    """One that was repeated could find its proof used. HAProxy 2.6 does repeat a question without an answer."""
    with Fading(answered) as assay, Site(name, assay.address, tmp_path / name) as site:
        statuses = [site.ask("a-token").status for _ in range(8)]
        assert assay.asked == len(statuses)
        assert set(statuses) <= {200, 502, 503}
        assert len([status for status in statuses if status != 200]) == assay.unanswered


class Fading(socketserver.ThreadingTCPServer):
    """A server that allows the first requests of each connection, and closes it at the next one without an answer."""

    daemon_threads = True

    def __init__(self, answered: int):
        self.answered, self.asked, self.unanswered = answered, 0, 0
        super().__init__(("127.0.0.1", 0), self._Conversation)
        self.address = f"127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    class _Conversation(socketserver.StreamRequestHandler):
        def handle(self):
            left = self.server.answered
            while self.rfile.readline():
                while self.rfile.readline().strip():
                    pass
                self.server.asked += 1
                if not left:
                    self.server.unanswered += 1
                    return
                left -= 1
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


# MARK: Certificates

CLAIMED = ("X-Client-Certificate", "Client-Cert", "X-Forwarded-Client-Cert")


@pytest.mark.parametrize("name_of_header", CLAIMED)
def test_a_client_cannot_claim_a_certificate(site, issuer, name_of_header):
    """Over a connection without one."""
    bound = token(issuer, cnf={"x5t#S256": b64url(hashlib.sha256(der(PEM)).digest())})
    form = CERTIFICATES[site.name]["form"]
    for spelling in (name_of_header, name_of_header.lower(), name_of_header.upper(), name_of_header.replace("-", "_")):
        for value in forms(PEM)[form]:
            before = len(site.backend.received)
            assert site.ask(bound, (spelling, value)).status in (400, 401)
            assert site.backend.received[before:] == []
    if name_of_header.lower() == CERTIFICATES[site.name]["header"].lower():
        received = site.passes(token(issuer), (name_of_header, forms(PEM)[form][0]))
        assert received.values(name_of_header) in ([], [""])


@pytest.mark.parametrize("name", NAMES)
def test_the_certificate_of_the_connection_proves_the_key(name, issuer, tmp_path):
    authority = Authority(tmp_path)
    mine, other = authority.client_file("mine"), authority.client_file("other")
    form = CERTIFICATES[name]["form"]
    bound = token(issuer, cnf={"x5t#S256": thumbprint(mine)})
    claimed = {file: [(each, forms(pem_of(file))[form][0]) for each in CLAIMED] for file in (mine, other)}
    with bound_site(name, issuer, tmp_path / name, changed=over_tls(name, authority)) as site:
        for file, fields, status in [
            (mine, [], 200),
            (mine, claimed[other], 200),
            (other, [], 401),
            (other, claimed[mine], 401),
            (None, [], 401),
            (None, claimed[mine], 401),
        ]:
            before = len(site.backend.received)
            assert ask_over_tls(site, authority, file, bound, *fields) == status, (file, fields, site.gateway.log())
            assert len(site.backend.received) - before == (status == 200)
        for file in (mine, other, None):
            assert ask_over_tls(site, authority, file, token(issuer)) == 200, site.gateway.log()


def pem_of(file) -> str:
    """The certificate in a file with a key."""
    return "-----BEGIN CERTIFICATE-----" + file.read_text().split("-----BEGIN CERTIFICATE-----")[1]


def thumbprint(file) -> str:
    return b64url(hashlib.sha256(der(pem_of(file))).digest())


def ask_over_tls(site: Site, authority: Authority, file, bearer: str, *fields) -> int:
    with Conversation(site.gateway.address, context=authority.client_context(file)) as connection:
        connection.send(request(bearer, *fields))
        return connection.unchecked_response("GET").status


def over_tls(name: str, authority: Authority) -> dict[str, str]:
    """Changes after which the gateway asks its clients for a certificate."""
    server, trusted = authority.server_file(), authority.certificate_file
    return {
        "nginx": {
            "listen 8000;": f"listen 8000 ssl; ssl_certificate {server}; ssl_certificate_key {server}; "
            f"ssl_verify_client optional; ssl_client_certificate {trusted};"
        },
        "haproxy": {"bind :8000\n": f"bind :8000 ssl crt {server} verify optional ca-file {trusted}\n"},
        "caddy": {
            # The test's client sends no host name in the handshake.
            "admin off\n": "admin off\n\tservers {\n\t\tstrict_sni_host insecure_off\n\t}\n",
            "http://:8000 {": f"https://:8000 {{\n\ttls {server} {server} {{\n\t\tclient_auth {{\n\t\t\tmode verify_if_given\n"
            f"\t\t\ttrusted_ca_cert_file {trusted}\n\t\t}}\n\t}}"
        },
        "envoy": {
            "        - filters:\n": "        - transport_socket:\n"
            "            name: envoy.transport_sockets.tls\n"
            "            typed_config:\n"
            '              "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext\n'
            "              common_tls_context:\n"
            f"                tls_certificates: [{{ certificate_chain: {{ filename: {server} }}, private_key: {{ filename: {server} }} }}]\n"
            f"                validation_context: {{ trusted_ca: {{ filename: {trusted} }} }}\n"
            "          filters:\n"
        },
    }[name]
