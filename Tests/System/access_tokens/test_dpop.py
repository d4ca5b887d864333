"""Access tokens that are bound to the key of DPoP proofs. Client libraries make the proofs, mostly requests-oauth2client."""

import base64
import hashlib

import pytest
from jwskate import Jwk, SignedJwt
from requests_oauth2client import DPoPKey

from access_tokens.test_access_tokens import access, access_token, accepted, refused, verify
from harness.certificates import certificate
from harness import other_proofs
from harness.faulty_proofs import Proofs, public
from harness.proofs import thumbprint
from harness.service import Service
from harness.tokens import b64url, ec_key, now, rsa_key

URL = "https://api.example/orders"


def hash_of(token: str) -> str:
    return b64url(hashlib.sha256(token.encode()).digest())


class Client:
    """A client with a key, and access tokens that are bound to it."""

    def __init__(self, issuer, alg="ES256", clock=now):
        self.issuer = issuer
        self.key = DPoPKey.generate(alg=alg, iat_generator=clock)

    def token(self, **cnf) -> str:
        return access_token(self.issuer, cnf={"jkt": self.key.dpop_jkt} | cnf)

    def request(self, token, method="GET", url=URL, *, ath=None, **changes) -> dict:
        """What an API sends as `dpop`."""
        proof = self.key.proof(htm=method, htu=url, ath=ath or hash_of(token))
        return {"proof": str(proof), "method": method, "url": url, "scheme": "DPoP"} | changes


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("proofs", rsa_key("proofs"))


@pytest.fixture(scope="module")
def demanding(shared_server):
    return shared_server.issuer("demanding-proofs", rsa_key("demanding-proofs"))


@pytest.fixture(scope="module")
def service(issuer, demanding):
    with Service(access(issuer), access(demanding, "demanding", binding="dpop"), dpop={}) as service:
        service.wait_until_ready()
        yield service


@pytest.mark.parametrize("alg", ["ES256", "ES384", "ES512", "RS256", "PS256", "EdDSA"])
def test_a_library_s_proof_proves_the_key_of_the_token(service, issuer, alg):
    client = Client(issuer, alg)
    token = client.token()
    answer = accepted(service, token, dpop=client.request(token, "POST", URL + "?page=2"))
    assert answer["authorization"]["binding"] == {"method": "dpop", "thumbprint": client.key.dpop_jkt}


@pytest.mark.parametrize("client", other_proofs.CLIENTS)
def test_proofs_of_other_libraries_pass(service, issuer, client):
    client = client()
    token = access_token(issuer, cnf={"jkt": client.jkt})
    # pydpop leaves the query out of htu; atproto-oauth-py does not.
    answer = accepted(service, token, dpop=client.request(token, "POST", URL + "?page=2"))
    assert answer["authorization"]["binding"] == {"method": "dpop", "thumbprint": client.jkt}
    for wrong in (
        client.request(token, "GET", URL) | {"method": "POST"},
        client.request(token, "GET", URL + "/1") | {"url": URL},
        client.request(token + "x", "GET", URL),
    ):
        refused(verify(service, token, dpop=wrong), "dpop_proof_invalid")


@pytest.mark.parametrize("alg", ["ML-DSA-44-ES256", "ML-DSA-65-ES256"])
def test_a_hybrid_proof_is_refused(service, issuer, alg):
    """One with a post-quantum signature beside ES256; with the larger of the two, it is too long as well."""
    client = other_proofs.by_pydpop(alg)
    token = access_token(issuer, cnf={"jkt": client.jkt})
    problem = refused(verify(service, token, dpop=client.request(token, "GET", URL)), "dpop_proof_invalid")
    assert ("alg" if alg == "ML-DSA-44-ES256" else "8192 bytes") in problem["detail"]


def test_a_bound_token_needs_its_proof_and_scheme(service, issuer):
    client = Client(issuer)
    token = client.token()
    for none in ({}, {"dpop": None}, {"dpop": ""}):
        refused(verify(service, token, **none), "binding_required")
    refused(verify(service, token, dpop=client.request(token, scheme="Bearer")), "binding_required")
    accepted(service, token, dpop=client.request(token, scheme="dpop"))
    plain = access_token(issuer)
    refused(verify(service, plain, dpop=client.request(plain)), "binding_missing")
    other = Client(issuer)
    refused(verify(service, token, dpop=other.request(token)), "binding_mismatch")


def test_a_proof_is_for_one_request_and_token(service, issuer):
    client = Client(issuer)
    token = client.token()
    for wrong in (
        client.request(token, method="POST") | {"method": "GET"},
        client.request(token, url="https://api.example/others") | {"url": URL},
        client.request(token, ath=hash_of(client.token(x="y"))),
        client.request(token, proof=""),
        client.request(token, proof="a.b.c"),
        client.request(token, proof=client.request(token)["proof"] + "," + client.request(token)["proof"]),
    ):
        refused(verify(service, token, dpop=wrong), "dpop_proof_invalid")
    slow = Client(issuer, clock=lambda: now() - 130)
    token = slow.token()
    assert "max_age" in refused(verify(service, token, dpop=slow.request(token)), "dpop_proof_invalid")["detail"]


def test_each_faulty_proof_is_refused(service, issuer):
    key = ec_key("faulty-proofs")
    token = access_token(issuer, cnf={"jkt": thumbprint(public(key))})
    proofs = Proofs(key, token, "GET", URL)

    def sent(proof: str):
        return verify(service, token, dpop={"proof": proof, "method": "GET", "url": URL, "scheme": "DPoP"})

    assert sent(proofs.proof()).status == 200
    for fault, proof in proofs.faulty().items():
        response = sent(proof)
        assert (response.status, response.code) == (422, "dpop_proof_invalid"), fault
    elsewhere = access_token(issuer, cnf={"jkt": thumbprint(public(key))}, aud="https://other.example/")
    proof = Proofs(key, elsewhere, "GET", URL).proof()
    refused(verify(service, elsewhere, dpop={"proof": proof, "method": "GET", "url": URL, "scheme": "DPoP"}), "audience_mismatch")


def test_the_library_s_private_key_in_a_header_is_refused(service, issuer):
    client = Client(issuer)
    token = client.token()
    claims = {"jti": "1", "htm": "GET", "htu": URL, "iat": now(), "ath": hash_of(token)}
    for jwk in (client.key.private_key, Jwk.generate(alg="HS256")):
        proof = SignedJwt.sign(claims, client.key.private_key, alg="ES256", typ="dpop+jwt", extra_headers={"jwk": jwk.to_dict()})
        problem = refused(verify(service, token, dpop=client.request(token, proof=str(proof))), "dpop_proof_invalid")
        assert "jwk" in problem["detail"]


def test_the_proof_comes_before_certificate_and_scopes(service, issuer):
    client, pem = Client(issuer), certificate(ec_key("tls"))
    thumbprint = hashlib.sha256(base64.b64decode("".join(pem.splitlines()[1:-1]))).digest()
    token = client.token(**{"x5t#S256": b64url(thumbprint)})
    wrong = certificate(ec_key("other"))
    bad = client.request(token, method="POST") | {"method": "GET"}
    refused(verify(service, token, dpop=bad, certificate=wrong, scopes=["x"]), "dpop_proof_invalid")
    refused(verify(service, token, dpop=client.request(token), certificate=wrong, scopes=["x"]), "binding_mismatch")
    refused(verify(service, token, dpop=client.request(token), certificate=pem, scopes=["x"]), "scope_missing")
    answer = accepted(service, token, dpop=client.request(token), certificate=pem)
    assert answer["authorization"]["binding"] == {"method": "both", "thumbprint": client.key.dpop_jkt}
    refused(verify(service, token, dpop=client.request(token)), "binding_required")
    refused(verify(service, token, certificate=pem), "binding_required")


def test_a_proof_passes_only_once(service, issuer):
    client = Client(issuer)
    token = client.token()
    once = client.request(token)
    # Whatever refuses the token uses no proof up.
    refused(verify(service, token, dpop=once, scopes=["x"]), "scope_missing")
    refused(verify(service, token, dpop=once, subject="x"), "subject_mismatch")
    accepted(service, token, dpop=once)
    refused(verify(service, token, dpop=once), "dpop_proof_replayed")
    refused(verify(service, token, dpop=once | {"url": URL + "?page=3"}), "dpop_proof_replayed")
    assert 'assay_access_tokens_total{provider="api",code="dpop_proof_replayed"} 2' in service.admin.get("/metrics").text
    explained = service.admin.post("/v1/explain", {"token": token, "dpop": once}).json
    assert explained["valid"] is True
    accepted(service, token, dpop=client.request(token))


def test_a_jti_counts_for_its_key_and_url(service, issuer):
    clients = [Client(issuer), Client(issuer)]
    for client in clients:
        token = client.token()
        for url in (URL, "https://api.example/others"):
            claims = {"jti": "same", "htm": "GET", "htu": url, "iat": now(), "ath": hash_of(token)}
            proof = SignedJwt.sign(claims, client.key.private_key, alg="ES256", typ="dpop+jwt", extra_headers={"jwk": client.key.public_jwk})
            accepted(service, token, dpop=client.request(token, url=url, proof=str(proof)))
            refused(verify(service, token, dpop=client.request(token, url=url, proof=str(proof))), "dpop_proof_replayed")


def test_replays_can_be_allowed(issuer):
    with Service(access(issuer), dpop={"replay": "off"}) as service:
        service.wait_until_ready()
        client = Client(issuer)
        token = client.token()
        once = client.request(token)
        accepted(service, token, dpop=once)
        accepted(service, token, dpop=once)


def test_a_full_memory_refuses_and_forgets_nothing(issuer):
    with Service(access(issuer), dpop={"store": {"entries": 1000}}) as service:
        service.wait_until_ready()
        assert any("dpop with store memory" in line["setting"] for line in service.entries(message="configuration warning"))
        client = Client(issuer)
        token = client.token()
        first = client.request(token)
        accepted(service, token, dpop=first)
        for _ in range(999):
            accepted(service, token, dpop=client.request(token))
        refused(verify(service, token, dpop=client.request(token)), "store_unavailable")
        refused(verify(service, token, dpop=first), "dpop_proof_replayed")
        accepted(service, access_token(issuer))


def test_settings_and_requests_of_other_forms(service, issuer, demanding):
    client = Client(issuer)
    token = client.token()
    good = client.request(token)
    for wrong in (
        [], "x", 5, {}, good | {"nonce": "x"}, good | {"method": None}, good | {"method": ""}, good | {"proof": None},
        good | {"url": "/orders"}, good | {"url": "http://api.example/orders"}, good | {"scheme": 5},
    ):  # fmt: skip
        assert "dpop" in refused(verify(service, token, dpop=wrong), "request_invalid")["detail"]
    refused(verify(service, access_token(demanding)), "binding_missing")
    bound = Client(demanding)
    token = bound.token()
    accepted(service, token, dpop=bound.request(token))


def test_an_explanation_checks_the_proof(service, issuer):
    client = Client(issuer)
    token = client.token()
    for request, code in ((client.request(token), None), (client.request(token) | {"method": "PUT"}, "dpop_proof_invalid")):
        explained = service.admin.post("/v1/explain", {"token": token, "dpop": request}).json
        assert explained["valid"] is (code is None)
        assert [check["code"] for check in explained["checks"] if check["name"] == "binding"] == [code]


def test_without_the_setting_proofs_are_no_member(server):
    issuer = server.issuer("no-proofs", rsa_key("no-proofs"))
    with Service(access(issuer)) as service:
        service.wait_until_ready()
        client = Client(issuer)
        token = client.token()
        problem = refused(verify(service, token, dpop=client.request(token)), "request_invalid")
        assert "dpop: {}" in problem["detail"]
        refused(verify(service, token, dpop=None), "binding_required")
