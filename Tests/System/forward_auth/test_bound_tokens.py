"""Decisions for gateways on tokens that are bound to a key: DPoP proofs and the client's certificate."""

import base64
import contextlib
import hashlib
import urllib.parse

import pytest

from access_tokens.test_dpop import Client, hash_of
from forward_auth.test_forward_auth import API, PATH, access_token, allowed, ask_raw, decisions, denied
from harness.certificates import certificate
from harness.service import Service, provider
from harness.store import Store
from harness.tokens import b64url, ec_key, jws, now, rsa_key

ORIGIN = "https://api.example.com"
# The client's request, as the gateway names it.
NAMED = ["X-Forwarded-Method: GET", "X-Forwarded-Uri: /orders"]
ALGS = 'DPoP algs="ES256 ES384"'
TOO_SLOW = {"timeout": "10s", "keys_timeout": "10s"}


def by_headers(**more) -> dict:
    return {
        "request_url": {
            "origin": ORIGIN,
            "method": {"header": "X-Forwarded-Method"},
            "path": {"header": "X-Forwarded-Uri"},
        }
    } | more


POLICIES = [
    by_headers(id="api", providers=["api"]),
    by_headers(id="bound", providers=["bound"]),
    by_headers(id="users", providers=["users"]),
    by_headers(id="nonce", providers=["api"], nonce="required", require={"scopes": ["orders:write"]}),
    by_headers(id="again", providers=["api"], replay="off"),
    by_headers(id="strict", providers=["api"], require={"scopes": ["orders:write"]}),
    {"id": "envoy", "providers": ["api"], "request_url": {"origin": ORIGIN, "method": "request", "path": "request"}},
    {"id": "plain", "providers": ["api"]},
    by_headers(id="both", providers=["api"], client_certificate={"header": "X-Client-Certificate", "form": "pem"}),
    *(
        {"id": form, "providers": ["api"], "client_certificate": {"header": "X-Client-Certificate", "form": form}}
        for form in ("pem", "rfc9440", "xfcc")
    ),
]


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("bound-gateway", rsa_key("bound-gateway"))


@pytest.fixture(scope="module")
def bound(shared_server):
    return shared_server.issuer("only-bound-gateway", rsa_key("only-bound-gateway"))


@pytest.fixture(scope="module")
def users(shared_server):
    return shared_server.issuer("users-of-bound-gateway", rsa_key("users-of-bound-gateway"))


@pytest.fixture(scope="module")
def service(issuer, bound, users):
    access = {"tokens": "access", "audiences": [API]}
    providers = provider(issuer, "api", **access), provider(bound, "bound", binding="dpop", **access), provider(users, "users")
    settings = {"forward_auth": {"policies": POLICIES} | TOO_SLOW, "dpop": {"algorithms": ["ES256", "ES384"]}}
    with Service(*providers, **settings) as service:
        yield service.wait_until_ready()


class Gateway:
    """A client with a key, behind a gateway."""

    def __init__(self, service, issuer, policy="api"):
        self.service, self.policy, self.client = service, policy, Client(issuer)

    def token(self, **claims) -> str:
        return access_token(self.client.issuer, **({"cnf": {"jkt": self.client.key.dpop_jkt}} | claims))

    def proof(self, token, method="GET", url=f"{ORIGIN}/orders", nonce=None) -> str:
        return str(self.client.key.proof(htm=method, htu=url, ath=hash_of(token), nonce=nonce))

    def lines(self, token, *, scheme="DPoP", proofs=None, method="GET", path="/orders?page=2") -> list[str]:
        proofs = [self.proof(token)] if proofs is None else proofs
        return [
            f"Authorization: {scheme} {token}",
            *(f"DPoP: {proof}" for proof in proofs),
            f"X-Forwarded-Method: {method}",
            f"X-Forwarded-Uri: {path}",
        ]

    def ask(self, token, **named):
        return ask_raw(self.service, self.lines(token, **named), PATH + self.policy)


@pytest.fixture
def gateway(service, issuer) -> Gateway:
    return Gateway(service, issuer)


def test_a_proof_proves_the_key(gateway):
    token = gateway.token()
    assert allowed(gateway.ask(token))["X-Auth-Subject"] == "user-1"
    proof = gateway.proof(token, "PUT", "https://API.example.com:443/x/../orders")
    allowed(gateway.ask(token, scheme="dpop", proofs=[proof], method="PUT"))


def test_a_bound_token_is_refused_without_its_proof_or_scheme(gateway):
    token = gateway.token()
    for named in ({"proofs": []}, {"proofs": [""]}, {"scheme": "Bearer"}, {"scheme": "Bearer", "proofs": []}):
        denied(gateway.ask(token, **named), 401, f'DPoP error="invalid_token", {ALGS[5:]}')
    assert decisions(gateway.service, "api")["binding_required"] >= 4


def test_an_unbound_token_passes_as_bearer_alone(gateway, users):
    token = access_token(gateway.client.issuer)
    allowed(gateway.ask(token, scheme="Bearer", proofs=[]))
    for named in ({}, {"proofs": []}, {"scheme": "Bearer"}):
        denied(gateway.ask(token, **named), 401, f'DPoP error="invalid_token", {ALGS[5:]}')
    gateway.policy = "users"
    id_token = jws(users.keys[0], users.claims())
    allowed(gateway.ask(id_token, scheme="Bearer", proofs=[]))
    denied(gateway.ask(id_token, proofs=[]), 401, f'DPoP error="invalid_token", {ALGS[5:]}')


def test_a_wrong_proof_is_refused(gateway):
    token, other = gateway.token(), Gateway(gateway.service, gateway.client.issuer)
    invalid = f'DPoP error="invalid_dpop_proof", {ALGS[5:]}'
    for proofs in (
        ["x"],
        [gateway.proof(token, "POST")],
        [gateway.proof(token, "get")],
        [gateway.proof(token, url=f"{ORIGIN}/others")],
        [gateway.proof(token, url="http://localhost/orders")],
        [gateway.proof(gateway.token(jti="x"))],
        [gateway.proof(token), gateway.proof(token)],
        [gateway.proof(token) + "," + gateway.proof(token)],
        [gateway.proof(token)] * 2,
    ):
        denied(gateway.ask(token, proofs=proofs), 401, invalid)
    denied(gateway.ask(token, proofs=[other.proof(token)]), 401, f'DPoP error="invalid_token", {ALGS[5:]}')
    for path in ("orders", "https://api.example.com/orders", "*", ".evil.example/orders", "/%zz", "/orders x"):
        denied(gateway.ask(token, path=path), 401, invalid)


def test_a_proof_passes_once(gateway):
    token = gateway.token()
    once = gateway.proof(token)
    strict = Gateway(gateway.service, gateway.client.issuer, "strict")
    denied(strict.ask(token, proofs=[once]), 403, f'Bearer error="insufficient_scope", scope="orders:write", {ALGS}')
    allowed(gateway.ask(token, proofs=[once]))
    denied(gateway.ask(token, proofs=[once]), 401, f'DPoP error="invalid_dpop_proof", {ALGS[5:]}')
    assert decisions(gateway.service, "api")["dpop_proof_replayed"] == 1
    gateway.policy = "again"
    again = gateway.proof(token)
    for _ in range(2):
        allowed(gateway.ask(token, proofs=[again]))


def test_a_nonce_reaches_the_client(gateway):
    gateway.policy = "nonce"
    token = gateway.token(scope="orders:read orders:write")
    missing = ask_raw(gateway.service, NAMED, PATH + "nonce")
    denied(missing, 401, f"Bearer, {ALGS}")
    assert missing.header("DPoP-Nonce")
    response = gateway.ask(token)
    denied(response, 401, f'DPoP error="use_dpop_nonce", {ALGS[5:]}')
    nonce = response.header("DPoP-Nonce")
    response = gateway.ask(token, proofs=[gateway.proof(token, nonce=nonce)])
    allowed(response)
    assert response.header("DPoP-Nonce")
    lesser = gateway.token()
    response = gateway.ask(lesser, proofs=[gateway.proof(lesser, nonce=nonce)])
    denied(response, 403, f'Bearer error="insufficient_scope", scope="orders:write", {ALGS}')
    assert response.header("DPoP-Nonce")
    gateway.policy = "api"
    assert gateway.ask(token).header("DPoP-Nonce") is None


def test_challenges_name_the_schemes_that_a_policy_takes(service, bound, gateway):
    denied(ask_raw(service, NAMED, PATH + "api"), 401, f"Bearer, {ALGS}")
    denied(ask_raw(service, NAMED, PATH + "bound"), 401, ALGS)
    denied(ask_raw(service, [], PATH + "plain"), 401, "Bearer")
    old = gateway.token(exp=now() - 3600)
    denied(gateway.ask(old), 401, f'Bearer error="invalid_token", {ALGS}')
    only = Gateway(service, bound, "bound")
    denied(only.ask(only.token(exp=now() - 3600)), 401, f'DPoP error="invalid_token", {ALGS[5:]}')
    denied(only.ask(access_token(bound), scheme="Bearer", proofs=[]), 401, f'DPoP error="invalid_token", {ALGS[5:]}')
    token = only.token()
    allowed(only.ask(token))


def test_a_policy_without_request_url_knows_no_proofs(gateway):
    gateway.policy = "plain"
    token = gateway.token()
    denied(gateway.ask(token), 401, "Bearer")
    denied(gateway.ask(token, scheme="Bearer"), 401, 'Bearer error="invalid_token"')
    allowed(gateway.ask(access_token(gateway.client.issuer), scheme="Bearer"))


def test_the_gateway_must_name_the_request_once(gateway):
    token = gateway.token()
    lines = gateway.lines(token)
    wrongs = [lines[:2], lines[:3], [*lines[:2], lines[3]], [*lines, lines[2]], [*lines, lines[3]], [*lines[:3], "X-Forwarded-Uri:"], []]
    for wrong in wrongs:
        response = ask_raw(gateway.service, wrong, PATH + "api")
        assert (response.status, response.code) == (503, "request_unknown")
    assert decisions(gateway.service, "api")["request_unknown"] == len(wrongs)
    entry = gateway.service.wait_for_entry(code="request_unknown", setting="request_url")
    assert entry["policy"] == "api"
    denied(ask_raw(gateway.service, NAMED, PATH + "api"), 401, f"Bearer, {ALGS}")


@pytest.mark.parametrize("below", ["/orders?page=2", "//orders?page=2"])
def test_the_question_may_be_the_request_itself(gateway, below):
    """Envoy appends the client's path to a prefix, which may end with a slash."""
    token = gateway.token()
    for method in ("GET", "POST", "PROPFIND", "_OTHER"):
        lines = [f"Authorization: DPoP {token}", f"DPoP: {gateway.proof(token, method)}"]
        allowed(ask_raw(gateway.service, lines, f"{PATH}envoy{below}", method))
    lines = [f"Authorization: DPoP {token}", f"DPoP: {gateway.proof(token, '_OTHER')}"]
    denied(ask_raw(gateway.service, lines, f"{PATH}envoy{below}", "PROPFIND"), 401, f'DPoP error="invalid_dpop_proof", {ALGS[5:]}')
    root = [f"Authorization: DPoP {token}", f"DPoP: {gateway.proof(token, url=ORIGIN)}"]
    allowed(ask_raw(gateway.service, root, f"{PATH}envoy//", "GET"))
    assert ask_raw(gateway.service, lines, f"{PATH}envoy").code == "request_unknown"


# MARK: Certificates


def der(pem: str) -> bytes:
    return base64.b64decode("".join(pem.splitlines()[1:-1]))


PEM, OTHER = certificate(ec_key("gateway-tls")), certificate(ec_key("gateway-tls-other"))
THUMBPRINT = b64url(hashlib.sha256(der(PEM)).digest())


def forms(pem: str) -> dict[str, list[str]]:
    base64_der, hexadecimal = base64.b64encode(der(pem)).decode(), hashlib.sha256(der(pem)).hexdigest()
    escaped = urllib.parse.quote(pem, safe="")
    return {
        "pem": [escaped, urllib.parse.quote(pem, safe=" +/=")],
        "rfc9440": [f":{base64_der}:"],
        "xfcc": [
            f"Hash={hexadecimal}",
            f'By=spiffe://a;Hash={hexadecimal.upper()};Subject="CN=a, O=\\"b;c\\"";URI=',
            f'Cert="{escaped}"',
            f'hash={hexadecimal};Cert="{escaped}";Chain="{escaped}"',
        ],
    }


def sent(token: str, *values: str) -> list[str]:
    return [f"Authorization: Bearer {token}", *(f"X-Client-Certificate: {value}" for value in values)]


@pytest.mark.parametrize("form", ["pem", "rfc9440", "xfcc"])
def test_a_certificate_proves_the_key(service, issuer, form):
    token = access_token(issuer, cnf={"x5t#S256": THUMBPRINT})
    path, invalid = PATH + form, 'Bearer error="invalid_token"'
    for value in forms(PEM)[form]:
        allowed(ask_raw(service, sent(token, value), path))
    for value in forms(OTHER)[form]:
        denied(ask_raw(service, sent(token, value), path), 401, invalid)
        allowed(ask_raw(service, sent(access_token(issuer), value), path))
    denied(ask_raw(service, sent(token), path), 401, invalid)
    denied(ask_raw(service, sent(token, ""), path), 401, invalid)


@pytest.mark.parametrize("form", ["pem", "rfc9440", "xfcc"])
def test_a_field_without_one_certificate_is_refused(service, issuer, form):
    good, other = forms(PEM)[form][0], forms(OTHER)[form][0]
    wrong = [[good, good], [good, other], ["x"], [THUMBPRINT], [good + "," + other], [good[:-9]]]
    wrong += {
        "pem": [[base64.b64encode(der(PEM)).decode()], [good + good]],
        "rfc9440": [[good[1:-1]], ["::"], [good + ";a=1"], [":" + THUMBPRINT + ":"]],
        "xfcc": [
            ["By=a"], [good + ";" + good], [good + ";"], [good + ";" + forms(OTHER)["xfcc"][2]], ['Subject="a'],
            [",".join([good, "By=b"])], ["," + good], ["Hash="], ['Hash=zz;Cert="x"'],
        ],
    }[form]  # fmt: skip
    for token in (access_token(issuer, cnf={"x5t#S256": THUMBPRINT}), access_token(issuer)):
        for values in wrong:
            response = ask_raw(service, sent(token, *values), PATH + form)
            denied(response, 401, 'Bearer error="invalid_request"')


def test_a_token_may_need_both(gateway):
    gateway.policy = "both"
    token = gateway.token(cnf={"jkt": gateway.client.key.dpop_jkt, "x5t#S256": THUMBPRINT})
    with_both = [*gateway.lines(token), f"X-Client-Certificate: {urllib.parse.quote(PEM, safe='')}"]
    allowed(ask_raw(gateway.service, with_both, PATH + "both"))
    denied(gateway.ask(token), 401, f'DPoP error="invalid_token", {ALGS[5:]}')


def test_an_explanation_takes_both(gateway):
    token = gateway.token(cnf={"jkt": gateway.client.key.dpop_jkt, "x5t#S256": THUMBPRINT})
    dpop = {"proof": gateway.proof(token), "method": "GET", "url": f"{ORIGIN}/orders", "scheme": "DPoP"}
    for evidence, code in (
        ({"dpop": dpop, "certificate": PEM}, None),
        ({"dpop": dpop | {"method": "PUT"}, "certificate": PEM}, "dpop_proof_invalid"),
        ({"dpop": dpop, "certificate": OTHER}, "binding_mismatch"),
        ({"dpop": dpop}, "binding_required"),
    ):
        body = {"token": token, "policy": "both"} | evidence
        answer = gateway.service.admin.post("/v1/explain", body).json
        assert (answer["valid"], answer["code"]) == (code is None, code)


# MARK: Time and stores


@contextlib.contextmanager
def replica(issuer, store: Store, **forward_auth):
    api = provider(issuer, "api", tokens="access", audiences=[API])
    policies = {"policies": POLICIES[:1] + [POLICIES[3]]} | TOO_SLOW | forward_auth
    policies["policies"] = [by_headers(id="api", providers=["api"])]
    settings = {"forward_auth": policies, "dpop": {"algorithms": ["ES256", "ES384"], "store": {"url": store.url, "timeout": "5s"}}}
    with Service(api, **settings) as service:
        service.wait_until_ready()
        service.wait_until(lambda: service.api.get("/readyz").json["proof_store"]["state"] == "ok")
        yield service


def test_a_proof_passes_once_at_all_replicas(issuer, tmp_path):
    with Store(tmp_path / "store") as store, contextlib.ExitStack() as stack:
        gateways = [Gateway(stack.enter_context(replica(issuer, store)), issuer) for _ in range(4)]
        for first in gateways:
            token = first.token()
            once = first.proof(token)
            allowed(first.ask(token, proofs=[once]))
            for each in gateways:
                denied(each.ask(token, proofs=[once]), 401, f'DPoP error="invalid_dpop_proof", {ALGS[5:]}')


def test_a_hanging_store_is_503_within_the_timeout(issuer, tmp_path):
    with Store(tmp_path / "store") as store, replica(issuer, store, timeout="100ms") as service:
        gateway = Gateway(service, issuer)
        token = gateway.token()
        service.wait_until(lambda: gateway.ask(token).status == 200)
        store.freeze()
        begun = now()
        response = gateway.ask(token)
        assert (response.status, response.code) == (503, "store_unavailable")
        # The store's own timeout is longer.
        assert now() - begun < 4
        allowed(gateway.ask(access_token(issuer), scheme="Bearer", proofs=[]))
        store.thaw()
        service.wait_until(lambda: gateway.ask(token).status == 200)
