"""Nonces that DPoP proofs must have, and the store of used proofs."""

import pytest

from access_tokens.test_access_tokens import access, access_token, accepted, refused, verify
from access_tokens.test_dpop import URL, Client, hash_of
from harness import other_proofs
from harness.clock import WallClock
from harness.metrics import Metrics
from harness.service import Service
from harness.store import Store
from harness.tokens import b64url, now, rsa_key


def key_file(path, octet: int) -> str:
    path.write_text(b64url(bytes([octet]) * 32) + "\n")
    return str(path)


def asked(client: Client, token: str, nonce: str | None = None) -> dict:
    """What an API sends as `dpop`, with a nonce in the proof."""
    proof = client.key.proof(htm="GET", htu=URL, ath=hash_of(token), nonce=nonce)
    return {"proof": str(proof), "method": "GET", "url": URL, "scheme": "DPoP"}


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("nonces", rsa_key("nonces"))


@pytest.fixture(scope="module")
def lax(shared_server):
    return shared_server.issuer("no-nonces", rsa_key("no-nonces"))


@pytest.fixture(scope="module")
def service(issuer, lax):
    providers = access(issuer), access(lax, "lax", nonce="off", replay="off")
    with Service(*providers, dpop={"nonce": "required"}) as service:
        yield service.wait_until_ready()


def test_a_proof_needs_a_nonce_that_assay_made(service, issuer):
    client = Client(issuer)
    token = client.token()
    for none in (None, "", "x", b64url(bytes(24)), b64url(bytes(40))):
        problem = refused(verify(service, token, dpop=asked(client, token, none)), "dpop_nonce_required")
    nonce = problem["dpop_nonce"]
    answer = accepted(service, token, dpop=asked(client, token, nonce))
    assert answer["dpop_nonce"]
    # A nonce is not for one request.
    accepted(service, token, dpop=asked(client, token, nonce))
    changed = nonce[:-1] + ("A" if nonce[-1] != "A" else "B")
    refused(verify(service, token, dpop=asked(client, token, changed)), "dpop_nonce_required")


@pytest.mark.parametrize("client", other_proofs.CLIENTS)
def test_other_libraries_repeat_the_nonce(service, issuer, client):
    client = client()
    token = access_token(issuer, cnf={"jkt": client.jkt})
    nonce = refused(verify(service, token, dpop=client.request(token, "GET", URL)), "dpop_nonce_required")["dpop_nonce"]
    accepted(service, token, dpop=client.request(token, "GET", URL, nonce))


def test_every_answer_and_problem_has_a_nonce(service, issuer):
    client = Client(issuer)
    token = client.token()
    assert accepted(service, access_token(issuer))["dpop_nonce"]
    stranger = access_token(issuer, iss="https://nobody.example")
    for body, code in [
        ({"token": token}, "binding_required"),
        ({"token": "x"}, "token_malformed"),
        ({"token": stranger}, "provider_unknown"),
        ({"token": token, "provider": "none"}, "provider_unknown"),
        ({"token": 5}, "request_invalid"),
        ({"token": token, "dpop": []}, "request_invalid"),
    ]:
        response = service.api.post("/v1/access-tokens/verify", body)
        assert (response.json["code"], bool(response.json.get("dpop_nonce"))) == (code, True), response.json
    malformed = service.api.post("/v1/access-tokens/verify", b"{", {"Content-Type": "application/json"})
    assert malformed.json["dpop_nonce"]
    # Other calls have none.
    assert "dpop_nonce" not in service.api.post("/v1/verify", {"id_token": "x"}).json


def test_the_nonce_is_the_last_check_of_a_proof(service, issuer):
    client, other = Client(issuer), Client(issuer)
    token = client.token()
    refused(verify(service, token, dpop=asked(other, token)), "binding_mismatch")
    refused(verify(service, token, dpop=asked(client, token) | {"method": "PUT"}), "dpop_proof_invalid")
    refused(verify(service, token, dpop=asked(client, token), scopes=["x"], certificate=b64url(bytes(32))), "dpop_nonce_required")


def test_a_provider_may_need_neither_nonce_nor_new_proofs(service, lax):
    client = Client(lax)
    token = client.token()
    once = asked(client, token)
    answer = accepted(service, token, dpop=once)
    assert "dpop_nonce" not in answer
    accepted(service, token, dpop=once)
    assert "dpop_nonce" not in refused(verify(service, token), "binding_required")


def test_one_provider_alone_may_need_a_nonce(issuer, lax):
    with Service(access(issuer, nonce="required", replay="on"), access(lax, "lax"), dpop={"replay": "off"}) as service:
        service.wait_until_ready()
        client = Client(issuer)
        token = client.token()
        nonce = refused(verify(service, token, dpop=asked(client, token)), "dpop_nonce_required")["dpop_nonce"]
        once = asked(client, token, nonce)
        accepted(service, token, dpop=once)
        refused(verify(service, token, dpop=once), "dpop_proof_replayed")
        assert "dpop_nonce" not in refused(verify(service, "x"), "token_malformed")
        other = Client(lax)
        token = other.token()
        once = asked(other, token)
        assert "dpop_nonce" not in accepted(service, token, dpop=once)
        accepted(service, token, dpop=once)


RESOURCE = "https://resource.example"


def for_resource(client: Client) -> str:
    return access_token(client.issuer, aud=RESOURCE, cnf={"jkt": client.key.dpop_jkt})


def at(id: str, host: str, *providers: str, **members) -> dict:
    """A resource."""
    return {"id": id, "resource": f"https://{host}.example", "providers": list(providers), "authorization_servers": ["https://as.example"]} | members


@pytest.fixture(scope="module")
def resources(issuer, lax):
    providers = access(issuer), access(lax, "lax", nonce="required", replay="on")
    settings = {
        "dpop": {"replay": "off"},
        "resources": [
            at("needs", "resource", "api", nonce="required", replay="on"),
            at("free", "free", "api", "lax", nonce="off", replay="off", audiences=["https://resource.example"]),
            at("silent", "silent", "api", "lax", audiences=["https://resource.example"]),
            at("other", "other", "api", audiences=["https://resource.example"]),
        ],
        "forward_auth": {
            "policies": [
                {"id": id, "resource": "needs", "request_url": {"origin": "https://api.example.com", "method": "request", "path": "request"}} | more
                for id, more in (("needs", {}), ("free", {"nonce": "off"}))
            ]
        },
    }
    with Service(*providers, **settings) as service:
        yield service.wait_until_ready()


def test_a_resource_alone_may_need_nonces(resources, issuer):
    """Every answer and problem of a call for it has one, whether the token's provider is known or not."""
    client = Client(issuer)
    token = for_resource(client)
    nonce = refused(verify(resources, token, resource="needs", dpop=asked(client, token)), "dpop_nonce_required")["dpop_nonce"]
    once = asked(client, token, nonce)
    assert accepted(resources, token, resource="needs", dpop=once)["dpop_nonce"]
    refused(verify(resources, token, resource="needs", dpop=once), "dpop_proof_replayed")
    stranger = access_token(issuer, iss="https://nobody.example")
    for body, code in [
        ({"token": None}, "token_missing"),
        ({"token": token}, "binding_required"),
        ({"token": "x"}, "issuer_mismatch"),
        ({"token": stranger}, "issuer_mismatch"),
        ({"token": token, "provider": "api"}, "request_invalid"),
        ({"token": 5}, "request_invalid"),
    ]:
        for resource, has in (("needs", True), ("other", False)):
            response = resources.api.post("/v1/access-tokens/verify", body | {"resource": resource})
            assert (response.json["code"], "dpop_nonce" in response.json) == (code, has), response.json
    for body in ({"token": token, "resource": "none"}, {"token": token, "resource": 5}, {"token": "x"}):
        assert "dpop_nonce" not in resources.api.post("/v1/access-tokens/verify", body).json
    # The resource's rules hold for calls that name it, and for no others.
    free = client.token()
    for _ in range(2):
        assert "dpop_nonce" not in accepted(resources, free, dpop=asked(client, free))


def test_a_resource_comes_before_its_providers(resources, issuer, lax):
    for by, needs in ((issuer, False), (lax, True)):
        client = Client(by)
        token = for_resource(client)
        once = asked(client, token)
        for _ in range(2):
            assert "dpop_nonce" not in accepted(resources, token, resource="free", dpop=once)
        response = verify(resources, token, resource="silent", dpop=once)
        assert (response.code, "dpop_nonce" in response.json) == ("dpop_nonce_required" if needs else None, needs)
    # The next token may be of the provider whose proofs need one.
    missing = resources.api.post("/v1/access-tokens/verify", {"token": None, "resource": "silent"})
    assert missing.json["dpop_nonce"]


def test_an_explanation_has_the_rules_of_the_resource(resources, issuer):
    client = Client(issuer)
    token = for_resource(client)
    (check,) = explained(resources, token, asked(client, token), resource="needs")
    assert check["code"] == "dpop_nonce_required"
    (check,) = explained(resources, token, asked(client, token), resource="free")
    assert check["state"] == "passed"


def test_a_policy_has_the_rules_of_its_resource(resources, issuer):
    client = Client(issuer)
    token = for_resource(client)

    def ask(policy: str, nonce: str | None = None):
        proof = client.key.proof(htm="GET", htu="https://api.example.com/orders", ath=hash_of(token), nonce=nonce)
        return resources.api.get(f"/v1/forward-auth/{policy}/orders", {"Authorization": f"DPoP {token}", "DPoP": str(proof)})

    denied = ask("needs")
    assert denied.status == 401 and "use_dpop_nonce" in denied.header("WWW-Authenticate")
    assert ask("needs", denied.header("DPoP-Nonce")).status == 200
    allowed = ask("free")
    assert (allowed.status, allowed.header("DPoP-Nonce")) == (200, None)
    assert resources.api.get("/v1/forward-auth/needs/orders").header("DPoP-Nonce")


def test_an_explanation_does_not_check_the_age_of_a_nonce(service, issuer):
    client = Client(issuer)
    token = client.token()
    nonce = refused(verify(service, token), "binding_required")["dpop_nonce"]
    (check,) = explained(service, token, asked(client, token, nonce))
    assert check["state"] == "passed" and "age of its nonce" in check["explanation"]
    (check,) = explained(service, token, asked(client, token))
    assert check["code"] == "dpop_nonce_required" and "DPoP-Nonce" in check["fix"]


def explained(service, token: str, dpop: dict, **members) -> list[dict]:
    answer = service.admin.post("/v1/explain", {"token": token, "dpop": dpop} | members).json
    return [check for check in answer["checks"] if check["name"] == "binding"]


def test_nonces_are_made_with_the_keys_of_sign_ins(issuer, tmp_path):
    """So every instance recognizes them, also while a key is rotated."""
    old, new = key_file(tmp_path / "old", 1), key_file(tmp_path / "new", 2)
    client = Client(issuer)
    token = client.token()
    nonces = []
    for files in ([old], [new, old], [new]):
        with Service(access(issuer), dpop={"nonce": "required"}, sign_ins={"key_files": files}) as service:
            service.wait_until_ready()
            warnings = [line["setting"] for line in service.entries(message="configuration warning")]
            assert not [each for each in warnings if "nonce: required" in each]
            nonces.append(refused(verify(service, token), "binding_required")["dpop_nonce"])
            if files == [new, old]:
                accepted(service, token, dpop=asked(client, token, nonces[0]))
            if files == [new]:
                accepted(service, token, dpop=asked(client, token, nonces[1]))
                refused(verify(service, token, dpop=asked(client, token, nonces[0])), "dpop_nonce_required")


def test_without_key_files_nonces_are_of_one_process(issuer):
    client = Client(issuer)
    token = client.token()
    with (
        Service(access(issuer), dpop={"nonce": "required"}) as one,
        Service(access(issuer), dpop={"nonce": "required"}) as other,
    ):
        for service in (one, other):
            service.wait_until_ready()
            warnings = [line["setting"] for line in service.entries(message="configuration warning")]
            assert [each for each in warnings if "only nonces of its own" in each]
        nonce = refused(verify(one, token), "binding_required")["dpop_nonce"]
        refused(verify(other, token, dpop=asked(client, token, nonce)), "dpop_nonce_required")
        accepted(one, token, dpop=asked(client, token, nonce))


# MARK: The store


def states(service) -> tuple:
    answer = service.api.get("/readyz").json
    return tuple(answer.get(name, {}).get("state") for name in ("store", "proof_store"))


def test_a_proof_passes_once_at_all_replicas(issuer, tmp_path):
    with Store(tmp_path / "store") as store:
        services = [Service(access(issuer), dpop={"store": {"url": store.url}}) for _ in range(3)]
        try:
            for service in services:
                service.wait_until_ready()
                service.wait_until(lambda service=service: states(service) == (None, "ok"))
            client = Client(issuer)
            token = client.token()
            for number in range(9):
                once = client.request(token)
                codes = [verify(service, token, dpop=once).code for service in services[number % 3 :] + services[: number % 3]]
                assert codes == [None, "dpop_proof_replayed", "dpop_proof_replayed"]
            warnings = [line["setting"] for line in services[0].entries(message="configuration warning")]
            assert not [each for each in warnings if "dpop" in each]
        finally:
            for service in services:
                service.__exit__(None, None, None)


def test_without_a_url_the_server_of_sign_ins_is_used(issuer, tmp_path):
    sign_ins = {"key_files": [key_file(tmp_path / "key", 3)]}
    with Store(tmp_path / "store") as store:
        sign_ins["store"] = {"url": store.url}
        with Service(access(issuer), dpop={}, sign_ins=sign_ins) as service:
            service.wait_until_ready()
            service.wait_until(lambda: states(service) == ("ok", "ok"))
            client = Client(issuer)
            token = client.token()
            once = client.request(token)
            accepted(service, token, dpop=once)
            refused(verify(service, token, dpop=once), "dpop_proof_replayed")
            metrics = Metrics(service.admin.get("/metrics").text)
            assert metrics.value("assay_proof_store_claims_total", outcome="claimed") == 1
            assert metrics.value("assay_proof_store_claims_total", outcome="already_claimed") == 1
            assert metrics.value("assay_proof_store_up") == 1
            store.stop()
            service.wait_until(lambda: verify(service, token, dpop=client.request(token)).code == "store_unavailable")
            service.wait_until(lambda: states(service) == ("unreachable", "unreachable"))
            assert service.api.get("/readyz").status == 200
            assert service.wait_for_entry(message="store unreachable", setting="dpop.store")
            accepted(service, access_token(issuer))


def test_a_memory_of_its_own_is_the_default(issuer):
    with Service(access(issuer), dpop={}, sign_ins={"store": {"entries": 1000}}) as service:
        service.wait_until_ready()
        assert states(service) == ("ok", "ok")
        client = Client(issuer)
        token = client.token()
        accepted(service, token, dpop=client.request(token))
        metrics = Metrics(service.admin.get("/metrics").text)
        assert (metrics.value("assay_store_entries"), metrics.value("assay_proof_store_entries")) == (0, 1)


def test_old_nonces_are_refused(issuer, tmp_path):
    """After five minutes. A nonce of another instance, whose clock is a little ahead, passes."""
    clock = WallClock(tmp_path)
    with Service(access(issuer), dpop={"nonce": "required"}, variables=clock.variables) as service:
        service.wait_until_ready()
        client = Client(issuer)
        token = client.token()
        nonce = refused(verify(service, token), "binding_required")["dpop_nonce"]
        for ahead, code in ((290, None), (310, "dpop_nonce_required"), (-50, None), (-70, "dpop_nonce_required")):
            clock.shift(ahead)
            late = Client(issuer, clock=lambda ahead=ahead: now() + ahead)
            bound = access_token(issuer, cnf={"jkt": late.key.dpop_jkt}, iat=now() - 200)
            assert verify(service, bound, dpop=asked(late, bound, nonce)).code == code
