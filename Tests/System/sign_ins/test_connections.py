"""Sign-ins and grants of an open entry: whole ones, and attempts to reach another customer's users, codes and secrets."""

import base64
import concurrent.futures
import itertools
import json
import urllib.parse

import pytest

from harness import collector as collectors
from harness.client import contract
from harness.collector import Collector
from harness.service import Service, provider
from harness.token_endpoint import REVOCATION, TOKEN, TokenEndpoint, answered, error, grant, held
from harness.tokens import half_hash
from harness.waiting import poll

from .calls import ON, Caller
from .connected import ENTRY, METHODS, POST, SECRET, Connection, entry, nothing_sent, parameters

assert_code = contract.assert_code


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    limits = {"provider_timeout": "3s", "keys_timeout": "2s"}
    with Service(entry(tmp_path_factory.mktemp("clients")), limits=limits, **ON) as service:
        yield service.wait_until_ready()


NUMBERS = itertools.count()


@pytest.fixture
def connect(shared_server):
    """Makes connections, each with an issuer and endpoints of its own."""
    endpoints = []

    def made(name: str, id: str | None = None, **more) -> Connection:
        endpoints.append(TokenEndpoint())
        return Connection(id or name, shared_server.issuer(f"{name}-{next(NUMBERS)}"), endpoints[-1], **more)

    yield made
    for endpoint in endpoints:
        endpoint.refuse_connections()


@pytest.fixture
def acme(connect):
    return connect("acme")


@pytest.fixture
def blob(connect):
    return connect("blob")


def client_assertion(call) -> dict:
    payload = call.form["client_assertion"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


# Whole sign-ins.


@pytest.mark.parametrize("id", ["acme", "a/b c?d&ä", "x" * 255])
def test_a_whole_sign_in(service, connect, id):
    acme = connect("acme", id, audience="their-client")
    begun = acme.begun(service, context="/basket")
    asked = parameters(begun)
    assert begun["authorization_url"].startswith(acme.issuer.url + "/authorize?")
    assert (asked["client_id"], asked["redirect_uri"]) == ("their-client", acme.redirect_uri)
    assert asked["code_challenge_method"] == "S256" and asked["scope"] == "openid"
    finished = acme.finish(service, begun, acme.sign_in(begun))
    assert finished.status == 200, finished
    identity = finished.json["identity"]
    assert (identity["connection"], identity["issuer"], identity["provider"]) == (id, acme.issuer.url, ENTRY)
    assert finished.json["context"] == "/basket" and finished.json["grant"]["refresh_token"] == "a refresh token"
    form = acme.endpoint.last().form
    assert (form["client_id"], form["client_secret"], form["code"]) == ("their-client", SECRET, "c1")
    assert form["redirect_uri"] == acme.redirect_uri and "code_verifier" in form
    replayed = acme.finish(service, begun, {"code": "c1", "state": asked["state"], "iss": acme.issuer.url})
    assert_code(replayed, "sign_in_replayed")
    assert acme.endpoint.received() == 1


@pytest.mark.parametrize("auth", METHODS)
def test_each_way_to_authenticate(service, acme, auth):
    secret = {"secret": "ä secret +/%"} if auth.startswith("client_secret") else {}
    begun = acme.begun(service)
    finished = acme.finish(service, begun, acme.sign_in(begun), client={"auth": auth} | secret)
    assert finished.status == 200, finished
    call = acme.endpoint.last()
    match auth:
        case "client_secret_basic":
            assert call.basic == ("client", secret["secret"]) and "client_secret" not in call.form
        case "client_secret_post":
            assert call.form["client_secret"] == secret["secret"] and call.basic is None
        case "none":
            assert call.form["client_id"] == "client" and not {"client_secret", "client_assertion"} & set(call.form)
        case "private_key_jwt":
            claims = client_assertion(call)
            # The issuer alone, because the key is the same for all customers.
            assert (claims["aud"], claims["iss"], claims["sub"]) == (acme.issuer.url, "client", "client")


def test_an_id_token_comes_with_the_code(connect, tmp_path):
    acme, hybrid = connect("acme"), entry(tmp_path)
    hybrid["clients"]["response_type"] = "code id_token"
    with Service(hybrid, **ON) as service:
        service.wait_until_ready()
        begun = acme.begun(service)
        asked = parameters(begun)
        assert (asked["response_type"], asked["response_mode"]) == ("code id_token", "form_post")
        response = acme.sign_in(begun)
        hashed = lambda code: half_hash(code, acme.issuer.keys[0].default_algorithm)  # noqa: E731
        front = {"aud": acme.audience, "nonce": asked["nonce"]}
        token = acme.issuer.token(**front, c_hash=hashed("c1"))
        for wrong, code in [(acme.issuer.token(**front), "c_hash_missing"), (acme.issuer.token(**front, c_hash=hashed("c2")), "c_hash_mismatch")]:
            assert_code(acme.finish(service, begun, response | {"id_token": wrong}), code)
        assert_code(acme.finish(service, begun, response), "request_invalid")
        assert not acme.endpoint.received()
        finished = acme.finish(service, begun, response | {"id_token": token})
        assert finished.status == 200 and finished.json["identity"]["connection"] == "acme", finished
        assert_code(acme.begin(service, response_mode="query"), "request_invalid")


def test_a_native_sign_in(service, acme):
    begun = acme.begun(service, redirect_uri=None)
    token = acme.issuer.token(nonce=begun["nonce"])
    finish = {"sign_in": begun["sign_in"], "id_token": token}
    assert_code(service.api.post("/v1/sign-ins/finish", finish), "request_invalid")
    assert_code(service.api.post("/v1/sign-ins/finish", finish | {"connection": "blob"}), "sign_in_invalid")
    finished = service.api.post("/v1/sign-ins/finish", finish | {"connection": "acme"})
    assert finished.status == 200 and finished.json["identity"]["connection"] == "acme"


def test_a_native_code_is_exchanged_by_the_requests_client(service, acme):
    begun = acme.begun(service, redirect_uri=None)
    acme.endpoint.play(grant(id_token=acme.issuer.token(nonce=begun["nonce"])))
    finish = {"sign_in": begun["sign_in"], "code": "c1", "connection": "acme"}
    assert_code(service.api.post("/v1/sign-ins/finish", finish), "request_invalid")
    assert nothing_sent(acme)
    finished = service.api.post("/v1/sign-ins/finish", finish | {"client": POST})
    assert finished.status == 200 and acme.endpoint.last().form["client_secret"] == SECRET


def test_rules_of_the_connection_are_sealed(service, acme):
    members = {"claim_values": {"hd": ["acme.example"]}, "email_domains": ["acme.example"]}
    begun = acme.begun(service, **members)
    refused = acme.finish(service, begun, acme.sign_in(begun, hd="blob.example"))
    assert assert_code(refused, "claim_invalid")["claim"] == "hd"
    begun = acme.begun(service, **members)
    addresses = {"email": "kim@acme.example", "email_verified": True}
    finished = acme.finish(service, begun, acme.sign_in(begun, hd="acme.example", **addresses))
    assert finished.status == 200 and finished.json["identity"]["email_trust"] != "unverified"
    begun = acme.begun(service, claim_values={"hd": ["acme.example"]})
    finished = acme.finish(service, begun, acme.sign_in(begun, hd="acme.example", **addresses))
    assert finished.json["identity"]["email_trust"] == "unverified"


def test_only_this_user_can_finish_a_re_authentication(service, acme):
    begun = acme.begun(service, subject="user-2")
    assert_code(acme.finish(service, begun, acme.sign_in(begun)), "subject_mismatch")
    begun = acme.begun(service, subject="user-1")
    assert acme.finish(service, begun, acme.sign_in(begun)).status == 200


# What a request lacks, or has too much.


@pytest.mark.parametrize("missing", ["connection", "issuer", "audience"])
def test_a_begin_names_the_whole_connection(service, acme, missing):
    assert_code(acme.begin(service, **{missing: None}), "request_invalid")


@pytest.mark.parametrize(
    "members",
    [{"connection": ""}, {"connection": "."}, {"connection": ".."}, {"connection": "x" * 256}, {"claim_values": []},
     {"issuer": "ftp://a.example"}, {"issuer": "http://a.example/?q"}, {"issuer": "http://u@a.example"},
     {"issuer": "https://" + "a" * 255}],
)  # fmt: skip
def test_a_connection_has_bounds(service, acme, members):
    assert_code(acme.begin(service, **members), "request_invalid")


@pytest.mark.parametrize("issuer", ["https://accounts.google.com", "https://login.microsoftonline.com/6f2e1a90-1d3b-4c5e-8f70-112233445566/v2.0"])
def test_an_issuer_of_everybody_needs_claim_values(service, acme, issuer):
    """Nothing is fetched: it is refused before."""
    assert_code(acme.begin(service, issuer=issuer), "request_invalid")


@pytest.mark.parametrize("uri", ["https://app.example/callback/blob", "https://app.example/callback/{connection}", "https://app.example/callback/acme/x"])
def test_each_connection_has_its_own_redirect_uri(service, acme, uri):
    assert_code(acme.begin(service, redirect_uri=uri), "redirect_uri_not_configured")


@pytest.mark.parametrize(
    ("members", "code"),
    [({"connection": None}, "request_invalid"), ({"connection": "blob"}, "sign_in_invalid"),
     ({"connection": "Acme"}, "sign_in_invalid"), ({"redirect_uri": None}, "request_invalid"),
     ({"redirect_uri": "https://app.example/callback/blob"}, "redirect_uri_mismatch"), ({"client": None}, "request_invalid"),
     ({"client": {}}, "request_invalid"), ({"client": {"auth": "magic"}}, "request_invalid"),
     ({"client": {"auth": "client_secret_post"}}, "request_invalid"), ({"client": {"auth": "none", "secret": "s"}}, "request_invalid"),
     ({"client": {"auth": "private_key_jwt", "secret": "s"}}, "request_invalid"), ({"client": POST | {"id": "x"}}, "request_invalid"),
     ({"client": {"auth": "client_secret_post", "secret": ""}}, "request_invalid"),
     ({"client": {"auth": "client_secret_post", "secret": "a\nb"}}, "request_invalid"), ({"issuer": "x"}, "request_invalid")],
)  # fmt: skip
def test_a_finish_is_refused_before_anything_is_sent(service, acme, members, code):
    begun = acme.begun(service)
    response = {"code": "c1", "state": begun["state"], "iss": acme.issuer.url}
    problem = assert_code(acme.finish(service, begun, response, **members), code)
    assert problem["spent"] is False and nothing_sent(acme)
    assert SECRET not in json.dumps(problem)
    # Nothing was used up.
    assert acme.finish(service, begun, acme.sign_in(begun)).status == 200


def test_a_method_must_be_one_of_the_settings(tmp_path, acme):
    settings = entry(tmp_path)
    settings["clients"] = {"from": "request", "auth": ["none"], "redirect_uris": settings["clients"]["redirect_uris"]}
    with Service(settings, **ON) as service:
        begun = acme.begun(service.wait_until_ready())
        response = {"code": "c1", "state": begun["state"], "iss": acme.issuer.url}
        assert_code(acme.finish(service, begun, response), "request_invalid")
        assert_code(acme.finish(service, begun, response, client={"auth": "private_key_jwt"}), "request_invalid")
        assert nothing_sent(acme)


# Another customer.


def test_a_swapped_handle_carries_no_secret_to_another(service, acme, blob):
    """The browser has the handle of the attacker's sign-in; the backend's session says acme, and its secret is acme's."""
    attackers = blob.begun(service)
    response = blob.sign_in(attackers)
    problem = assert_code(acme.finish(service, attackers, response), "sign_in_invalid")
    assert problem["spent"] is False and nothing_sent(acme, blob)
    # Whatever redirect URI it claims.
    assert_code(acme.finish(service, attackers, response, redirect_uri=blob.redirect_uri), "sign_in_invalid")
    assert nothing_sent(acme, blob)


def test_a_mixed_up_response_sends_no_code(service, acme, blob):
    """The attacker's provider sends the browser on to an honest one, whose code then comes to the attacker's address."""
    attackers = blob.begun(service)
    for iss in (acme.issuer.url, None):
        response = {"code": "acmes-code", "state": attackers["state"], "iss": iss}
        response = {name: value for name, value in response.items() if value is not None}
        assert_code(blob.finish(service, attackers, response), "response_issuer_mismatch")
    # It came to the address of the honest provider.
    response = {"code": "acmes-code", "state": attackers["state"], "iss": blob.issuer.url}
    assert_code(blob.finish(service, attackers, response, redirect_uri=acme.redirect_uri), "redirect_uri_mismatch")
    assert nothing_sent(acme, blob)


def test_a_token_of_another_issuer_is_refused(service, acme, blob):
    """The attacker's token endpoint returns a token of an honest issuer, or names it in one of its own."""
    for token in (acme.issuer.token, blob.issuer.token):
        begun = blob.begun(service)
        blob.endpoint.play(grant(id_token=token(iss=acme.issuer.url, nonce=parameters(begun)["nonce"])))
        response = {"code": "c1", "state": begun["state"], "iss": blob.issuer.url}
        problem = assert_code(blob.finish(service, begun, response), "issuer_mismatch")
        assert problem["spent"] is True


def test_one_issuer_at_two_connections_is_two_customers(service, connect, acme):
    other = Connection("other", acme.issuer, acme.endpoint, audience="another-client")
    begun = other.begun(service)
    finished = other.finish(service, begun, other.sign_in(begun))
    assert finished.json["identity"]["connection"] == "other"
    begun = acme.begun(service)
    # A token for the other's client.
    assert_code(acme.finish(service, begun, acme.sign_in(begun, aud="another-client")), "audience_mismatch")
    # A handle of the other connection of the same issuer.
    begun = other.begun(service)
    assert_code(acme.finish(service, begun, acme.sign_in(begun)), "sign_in_invalid")


@pytest.mark.parametrize("change", [lambda url: url + "/", lambda url: url.replace("http:", "HTTP:"), lambda url: url.replace("127.0.0.1", "127.0.0.1.")])
def test_a_look_alike_is_another_issuer(service, acme, change):
    """It has no document, or one that names another issuer."""
    refused = acme.begin(service, issuer=change(acme.issuer.url))
    assert refused.status in (400, 503) and refused.code in ("request_invalid", "provider_unavailable")


def test_an_issuer_that_hangs_has_eight_calls(service, acme, blob):
    acme.endpoint.always(held())
    begun = [acme.begun(service) for _ in range(9)]
    responses = [{"code": "c1", "state": each["state"], "iss": acme.issuer.url} for each in begun]
    callers = [Caller(service) for _ in begun]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        hanging = []
        for count, each in enumerate(zip(callers[:8], begun, responses), 1):
            hanging.append(pool.submit(acme.finish, *each))
            poll(lambda count=count: acme.endpoint.received() == count or hanging[-1].done())
            assert not hanging[-1].done(), hanging[-1].result()
        problem = assert_code(acme.finish(callers[8], begun[8], responses[8]), "provider_unavailable")
        assert problem["spent"] is False and acme.endpoint.received() == 8
        others = blob.begun(service)
        assert blob.finish(service, others, blob.sign_in(others)).status == 200
        acme.endpoint.heal()
        for each in hanging:
            assert_code(each.result(), "provider_unavailable")
    # The slots are free again.
    assert acme.finish(service, begun[8], acme.sign_in(begun[8])).status == 200


def test_a_begin_waits_for_the_document(service, acme):
    acme.issuer.discovery.hold()
    problem = assert_code(acme.begin(service), "provider_unavailable")
    assert "sign_in" not in problem
    acme.issuer.discovery.release()
    poll(lambda: acme.begin(service).status == 201)


def test_a_document_that_fails_stops_the_begin(service, acme):
    acme.issuer.discovery.status = 500
    assert_code(acme.begin(service), "provider_unavailable")
    assert_code(acme.begin(service, redirect_uri=None), "provider_unavailable")


def test_issuers_at_one_host_share_no_connection(service, connect):
    one, two = connect("one"), connect("two")
    two.endpoint = one.endpoint
    two.__post_init__()
    numbers = []
    for connection in (one, two, one, two):
        begun = connection.begun(service)
        assert connection.finish(service, begun, connection.sign_in(begun)).status == 200
        numbers.append(connection.endpoint.last().connection_number)
    assert numbers[0] != numbers[1] and numbers[:2] == numbers[2:]


# Grants.


def grants(connection: Connection, **members) -> dict:
    return {"provider": ENTRY, "client": POST} | connection.named | members


def test_a_grant_is_refreshed_and_revoked(service, acme):
    acme.endpoint.play(grant(id_token=acme.issuer.token()))
    refreshed = service.api.post("/v1/grants/refresh", grants(acme, refresh_token="r1", subject="user-1"))
    assert refreshed.status == 200 and refreshed.json["identity"]["connection"] == "acme", refreshed
    assert acme.endpoint.last().form["client_secret"] == SECRET
    revoked = service.api.post("/v1/grants/revoke", grants(acme, token="r1", client={"auth": "client_secret_basic", "secret": SECRET}))
    assert revoked.status == 204 and acme.endpoint.last(REVOCATION).basic == ("client", SECRET)


def test_a_revocation_is_sent_as_the_request_says(service, acme):
    """No probing of methods, whatever the document lists."""
    acme.issuer.discovery.body = acme.issuer.discovery.body | {"revocation_endpoint_auth_methods_supported": ["client_secret_basic"]}
    assert service.api.post("/v1/grants/revoke", grants(acme, token="r1")).status == 204
    assert acme.endpoint.last(REVOCATION).form["client_secret"] == SECRET


def test_a_code_is_revoked(service, acme):
    acme.endpoint.play(grant(id_token=acme.issuer.token()))
    assert service.api.post("/v1/grants/revoke", grants(acme, code="c1", subject="user-1")).status == 204
    assert [call.path for call in acme.endpoint.calls] == [TOKEN, REVOCATION]


@pytest.mark.parametrize("missing", ["connection", "issuer", "audience", "client"])
@pytest.mark.parametrize("path", ["refresh", "revoke"])
def test_grants_need_all_members(service, acme, path, missing):
    members = {"refresh_token": "r1", "subject": "user-1"} if path == "refresh" else {"token": "r1"}
    request = {name: value for name, value in grants(acme, **members).items() if name != missing}
    problem = assert_code(service.api.post(f"/v1/grants/{path}", request), "request_invalid")
    assert problem["spent"] is False and nothing_sent(acme)


def test_a_refresh_returns_nobody_else(service, acme, blob):
    acme.endpoint.play(grant(id_token=blob.issuer.token()))
    refused = service.api.post("/v1/grants/refresh", grants(acme, refresh_token="r1", subject="user-1"))
    assert_code(refused, "issuer_mismatch")
    acme.endpoint.play(grant(id_token=acme.issuer.token(sub="user-2")))
    assert_code(service.api.post("/v1/grants/refresh", grants(acme, refresh_token="r1", subject="user-1")), "subject_mismatch")


# Other entries.


def test_other_entries_know_no_connection(shared_server, acme):
    issuer = shared_server.issuer("plain")
    with Service(provider(issuer), **ON) as service:
        service.wait_until_ready()
        assert_code(service.api.post("/v1/sign-ins", {"provider": "oidc"} | acme.named), "request_invalid")
        begun = service.api.post("/v1/sign-ins", {"provider": "oidc"}).json
        finish = {"sign_in": begun["sign_in"], "id_token": issuer.token(nonce=begun["nonce"])}
        for members in ({"connection": "acme"}, {"client": POST}):
            assert_code(service.api.post("/v1/sign-ins/finish", finish | members), "request_invalid")
        assert service.api.post("/v1/sign-ins/finish", finish).status == 200


# Secrets.


def test_a_secret_is_nowhere_but_in_the_call_that_needs_it(tmp_path, acme):
    with Collector() as collector:
        with Service(entry(tmp_path), log={"level": "debug"}, tracing=collectors.settings(collector), **ON) as service:
            service.wait_until_ready()
            answers = []
            faults = [None, error("invalid_client", error_description=SECRET), error(SECRET), answered({"error": 1, "x": SECRET})]
            faults += [error("invalid_grant", error_description=f"client_secret={SECRET} is wrong")]
            for fault in faults:
                begun = acme.begun(service)
                response = {"code": "c1", "state": begun["state"], "iss": acme.issuer.url}
                acme.endpoint.play(*([fault] if fault else [grant(id_token=acme.issuer.token(nonce=parameters(begun)["nonce"]))]))
                answers.append(acme.finish(service, begun, response))
                answers.append(service.api.post("/v1/grants/refresh", grants(acme, refresh_token="r1", subject="user-1")))
            answers.append(service.api.post("/v1/grants/revoke", grants(acme, token="r1")))
            for wrong in ({"auth": SECRET}, {"auth": "none", "secret": SECRET}, {SECRET: "x"}, POST | {"secret": SECRET + "\n"}):
                answers.append(acme.finish(service, acme.begun(service), {"state": "x"}, client=wrong))
            assert {200, 204, 400, 502, 422} <= {answer.status for answer in answers}
            pages = [service.admin.get(path).body for path in ("/metrics", "/v1/providers", "/v1/events", "/v1/verdicts")]
            pages += [service.admin.get(f"/v1/providers?provider={ENTRY}&issuer={urllib.parse.quote(acme.issuer.url, safe='')}").body]
            text = "\n".join(
                [*service.log, *(page.decode() for page in pages), *(answer.body.decode() for answer in answers)]
            )
        # A stop exports all spans.
        spans = "\n".join(sent.decode("utf-8", "replace") for sent in collector.bodies)
        assert "token" in {span.name for span in collector.spans}
    text += "\n".join(service.log) + spans
    assert any(SECRET in call.body.decode() for call in acme.endpoint.calls)
    assert SECRET not in text
