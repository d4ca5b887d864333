"""Every fault of a token endpoint at once, with verifications: each finish has its own outcome, and delays no other."""

import concurrent.futures

import pytest

from harness import client, reload
from harness.load import Load
from harness.service import Service, provider
from harness.token_endpoint import FAULTS, ROWS, TOKEN, TokenEndpoint, grant
from harness.tokens import ec_key
from harness.waiting import poll
from sign_ins.calls import ON, Caller, begin, finish

from .grants import with_client

TABLE = {name: row for name, row in (ROWS | FAULTS).items() if row.code}
ROUNDS = 2


@pytest.fixture(scope="module")
def running(shared_server, tmp_path_factory):
    issuer, other = (shared_server.issuer(id, ec_key(id)) for id in ("faulty", "healthy"))
    with TokenEndpoint() as endpoint:
        faulty = with_client(issuer, endpoint, tmp_path_factory.mktemp("clients"), max_calls=256)
        with Service(faulty, provider(other, "other"), limits={"provider_timeout": "3s"}, **ON) as service:
            service.wait_until_ready()
            yield service, issuer, other, endpoint


def code_of(name: str, round: int) -> str:
    return f"{round}-{sorted(TABLE).index(name)}"


def test_concurrent_faults_do_not_affect_each_other(running):
    service, issuer, other, endpoint = running
    acts = {code_of(name, round): row.act for name, row in TABLE.items() for round in range(ROUNDS)}
    endpoint.choose(lambda call: acts.get(call.form.get("code")))
    assert len(FAULTS) >= 30

    def outcome(name: str, round: int) -> client.Response:
        caller = Caller(service)
        response = finish(caller, begin(caller), None, code=code_of(name, round))
        caller.api.close()
        return response

    # Tokens of the failing provider pass too, because its keys are available.
    rounds = {each.name: [(each.token(sub=f"user-{number}"), None) for number in range(8)] for each in (issuer, other)}
    with Load(service.api.address, rounds) as load, concurrent.futures.ThreadPoolExecutor(len(acts)) as pool:
        sent = {(name, round): pool.submit(outcome, name, round) for name in TABLE for round in range(ROUNDS)}
        load.passes(issuer.name)
        load.passes(other.name)
        for (name, _), response in sent.items():
            row = TABLE[name]
            problem = client.contract.assert_code(response.result(), row.code)
            assert problem["spent"] is True, name
            expected = row.error and (row.error if row.error != "made_up_here" else "other")
            assert problem.get("provider_error") == expected, name
            assert b"an access token" not in response.result().body, name
        load.passes(issuer.name)
        load.passes(other.name)
    # Each code was sent exactly once.
    codes = [call.form["code"] for call in endpoint.to(TOKEN)]
    assert sorted(codes) == sorted(acts)
    metrics = reload.metrics(service)
    assert sum(metrics.value("assay_grants_total", operation="exchange", code=code) for code in {row.code for row in TABLE.values()}) == len(acts)
    poll(lambda: reload.metrics(service).value("assay_provider_calls_in_flight", provider="oidc") == 0)

    # Once the endpoint works again, sign-ins succeed.
    endpoint.heal()
    for _ in range(8):
        begun = begin(service)
        endpoint.play(grant(id_token=issuer.token(nonce=begun["nonce"])))
        assert finish(service, begun, None, code="good").status == 200
