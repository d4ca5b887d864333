"""Clients' credentials: read from files, reloaded when they change, and never shown."""

import pytest

from harness import collector as collectors
from harness import commands, reload, tokens
from harness.apple import Apple
from harness.collector import Collector
from harness.service import Service, run, write_config
from harness.token_endpoint import TokenEndpoint, answered, error, grant
from sign_ins.calls import ON, begin

from .grants import SECRET, refresh, revoke, secret_file, with_client

CANARIES = {
    "secret": "canary-of-a-client-secret",
    "code": "canary-of-a-code",
    "access_token": "canary-of-an-access-token",
    "refresh_token": "canary-of-a-refresh-token",
    "new_refresh_token": "canary-of-a-new-refresh-token",
    "context": "canary-of-a-context",
    "error": "canary-of-an-error",
    "error_description": "canary-of-a-description",
}


@pytest.fixture
def endpoint():
    with TokenEndpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("client-files")


def secret_used(service, endpoint) -> str:
    assert refresh(service).status == 200
    return endpoint.last().basic[1]


def test_a_changed_secret_is_used_and_an_invalid_one_is_not(issuer, endpoint, tmp_path):
    with Service(with_client(issuer, endpoint, tmp_path)) as service:
        service.wait_until_ready()
        assert secret_used(service, endpoint) == SECRET
        secret_file(tmp_path, "another")
        service.wait_until(lambda: secret_used(service, endpoint) == "another")
        service.wait_for_entry(message="client credentials changed")
        secret_file(tmp_path, "")
        entry = service.wait_for_entry(message="client credential files invalid, still using the previous ones")
        assert "provider oidc: client client: secret_file" in entry["reason"]
        assert secret_used(service, endpoint) == "another"
        secret_file(tmp_path, "third")
        service.wait_until(lambda: secret_used(service, endpoint) == "third")


def test_a_reload_applies_new_clients_and_refuses_invalid_files(issuer, endpoint, tmp_path):
    entry = with_client(issuer, endpoint, tmp_path)
    with Service(entry) as service:
        service.wait_until_ready()
        assert secret_used(service, endpoint) == SECRET
        post = entry | {"clients": [entry["clients"][0] | {"auth": "client_secret_post"}]}
        reload.change(service, post)
        assert refresh(service).status == 200 and endpoint.last().form["client_secret"] == SECRET
        missing = entry | {"clients": [entry["clients"][0] | {"secret_file": str(tmp_path / "missing")}]}
        assert "missing" in reload.refuse(service, reload.text(missing))
        assert refresh(service).status == 200 and endpoint.last().form["client_secret"] == SECRET
        reload.change(service, {name: value for name, value in entry.items() if name not in ("clients", "max_calls")})
        assert refresh(service).status == 404


@pytest.mark.parametrize("content, expected", [(None, "no such file"), ("", "one line"), ("a\nb", "one line")])
def test_an_invalid_secret_prevents_the_start(issuer, endpoint, tmp_path, content, expected):
    entry = with_client(issuer, endpoint, tmp_path)
    if content is None:
        (tmp_path / "secret").unlink()
    else:
        secret_file(tmp_path, content)
    config = write_config(tmp_path, {"service": {"listen": "127.0.0.1:0"}, "admin": {"listen": "127.0.0.1:0"}, "providers": [entry]})
    for command in (["serve", "--config", str(config)], commands.config_check(config)):
        ended = run(*command)
        assert ended.returncode != 0 and expected in str(ended.stdout) + str(ended.stderr), ended
    # The error is reported like those of other settings.
    line = next(number for number, text in enumerate(config.read_text().splitlines(), 1) if "secret_file" in text)
    assert f"{config}: line {line}: provider oidc: client client: secret_file: " in ended.stderr.decode(), ended


def test_a_secret_file_that_others_can_read_causes_a_warning(issuer, endpoint, tmp_path):
    entry = with_client(issuer, endpoint, tmp_path)
    (tmp_path / "secret").chmod(0o644)
    with Service(entry) as service:
        warning = service.wait_for(lambda: [e for e in service.entries(message="configuration warning") if "clients" in e["setting"]])
        assert str(tmp_path / "secret") in warning[0]["setting"]


def test_secrets_are_never_shown(issuer, endpoint, tmp_path):
    entry = with_client(issuer, endpoint, tmp_path)
    secret_file(tmp_path, CANARIES["secret"])
    granted = {"access_token": CANARIES["access_token"], "refresh_token": CANARIES["new_refresh_token"]}
    with Collector() as collector:
        service = Service(entry, log={"level": "debug"}, tracing=collectors.settings(collector), **ON)
        with service:
            service.wait_until_ready()
            for token in (lambda begun: issuer.token(nonce=begun["nonce"]), lambda begun: issuer.token(nonce="other")):
                begun = begin(service, context=CANARIES["context"])
                endpoint.play(grant(id_token=token(begun), **granted))
                service.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "code": CANARIES["code"]})
            description = {"error_description": CANARIES["error_description"]}
            faults = [error(name, **description) for name in ("invalid_grant", "invalid_client", "invalid_scope", CANARIES["error"])]
            faults += [answered(granted | {"token_type": 1}), answered(granted, "503 Service Unavailable")]
            problems = []
            for fault in faults:
                endpoint.play(fault, fault)
                begun = begin(service, context=CANARIES["context"])
                finished = service.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "code": CANARIES["code"]})
                problems += [finished, refresh(service, token=CANARIES["refresh_token"])]
            problems.append(revoke(service, code=CANARIES["code"], redirect_uri="https://" + CANARIES["code"]))
            assert {problem.json["code"] for problem in problems} == {
                "grant_invalid", "client_rejected", "provider_refused", "provider_answer_invalid", "provider_unavailable",
                "redirect_uri_not_configured",
            }  # fmt: skip
            endpoint.play(grant(**granted))
            assert refresh(service, token=CANARIES["refresh_token"]).status == 200
            assert revoke(service, token=CANARIES["refresh_token"]).status == 204
            problems.append(refresh(service, token=CANARIES["refresh_token"], scopes=["a b"]))
            pages = [service.admin.get(path).body.decode() for path in ("/metrics", "/v1/providers", "/v1/events", "/v1/verdicts")]
            shown = run("config", "show", "--config", str(service.config))
            assert shown.returncode == 0
            text = "\n".join([*service.log, *pages, str(shown.stdout), *(problem.body.decode() for problem in problems)])
        # A stop exports all spans.
        spans = "\n".join(sent.decode("utf-8", "replace") for sent in collector.bodies)
        assert {"token", "revoke"} <= {span.name for span in collector.spans}
    text += "\n".join(service.log) + spans
    assert "secret_file" in text and "assay_grants_total" in text
    for name, canary in CANARIES.items():
        assert canary not in text, name


def test_apples_key_can_be_rotated(tmp_path):
    with Apple() as apple:
        team = apple.team("com.example.app")
        key = tmp_path / "AuthKey.p8"
        key.write_bytes(team.pem)
        client = {"id": "com.example.app", "auth": "apple", "team_id": team.id, "key_id": team.key_id, "key_file": str(key)}
        with Service(apple.settings(audiences=["com.example.app"], clients=[client])) as service:
            service.wait_until_ready()
            assert revoke(service, "apple", token="t").status == 204
            # Apple now has another key under the same ID.
            team.key = tokens.ec_key("another")
            assert revoke(service, "apple", token="t").json["code"] == "client_rejected"
            key.write_bytes(team.pem)
            service.wait_until(lambda: revoke(service, "apple", token="t").status == 204)
