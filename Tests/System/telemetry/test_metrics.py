"""`GET /metrics`: the format, the counters, and the bound on the number of series."""

import secrets

import pytest

from harness.metrics import Metrics
from harness.service import REPOSITORY, Service, provider
from harness.tokens import ec_key, jws, now

VERDICTS = "assay_verifications_total"


def metrics(service) -> Metrics:
    response = service.admin.get("/metrics")
    assert response.status == 200
    assert response.header("Content-Type").startswith("text/plain; version=0.0.4")
    return Metrics(response.text)


@pytest.fixture
def counted(server):
    """A service for one test, which counts only that test's requests."""
    issuer = server.issuer("op", ec_key("op"))
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        yield service, issuer


def test_the_metrics_follow_the_formats_conventions(service, oidc):
    service.accept(oidc.token())
    service.reject("x", "token_malformed")
    found = metrics(service)
    assert found.samples
    for name, kind in found.types.items():
        assert name in found.help, name
        assert name.startswith(("assay_", "process_")), name
        assert not name.startswith("assay_") or (kind == "counter") == name.endswith("_total"), name


def test_the_metrics_page_lists_every_served_metric(service):
    page = (REPOSITORY / "docs/metrics.md").read_text()
    found = metrics(service)
    assert found.types
    rows = {tuple(cell.strip() for cell in line.split("|")[1:5]) for line in page.splitlines() if line.startswith("| `")}
    listed = {name: (kind, about) for name, kind, _, about in rows}
    for name, kind in found.types.items():
        assert listed[f"`{name}`"] == (kind, found.help[name])


def test_each_verdict_is_counted_by_provider_and_code(counted):
    service, issuer = counted
    before = metrics(service)
    for _ in range(3):
        service.accept(issuer.token())
    service.reject(issuer.token(exp=1), "token_expired")
    service.reject(issuer.token(exp=1), "token_expired")
    service.reject(issuer.token(nonce="n"), "nonce_mismatch", nonce="m")
    service.reject("x", "token_malformed", provider="oidc")
    after = metrics(service)

    def difference(**labels: str) -> float:
        return after.value(VERDICTS, **labels) - before.value(VERDICTS, **labels)

    assert difference(provider="oidc", code="token_expired") == 2
    assert difference(provider="oidc", code="nonce_mismatch") == 1
    assert difference(code="token_malformed") == 1
    assert difference() == 7
    accepted = {code for code in after.label_values(VERDICTS, "code") if difference(provider="oidc", code=code) == 3}
    assert len(accepted) == 1, "accepted tokens have their own series"


def test_a_token_of_an_unknown_provider_is_counted(counted):
    service, issuer = counted
    before = metrics(service).value(VERDICTS, code="provider_unknown")
    service.reject(issuer.token(iss="https://unknown.example.com"), "provider_unknown")
    assert metrics(service).value(VERDICTS, code="provider_unknown") == before + 1


def test_each_item_of_a_batch_is_counted(counted):
    service, issuer = counted
    before = metrics(service)
    items = [{"id_token": issuer.token(exp=1)}] * 3 + [{"id_token": issuer.token()}] * 4
    service.api.post("/v1/verify/batch", {"items": items})
    after = metrics(service)
    assert after.value(VERDICTS, code="token_expired") == before.value(VERDICTS, code="token_expired") + 3
    assert after.value(VERDICTS) == before.value(VERDICTS) + 7


def test_counters_never_decrease(counted):
    service, issuer = counted
    previous = metrics(service)
    for _ in range(5):
        service.accept(issuer.token())
        current = metrics(service)
        for (name, labels), value in previous.samples.items():
            family = name.removesuffix("_bucket").removesuffix("_count").removesuffix("_sum")
            if previous.types.get(family) == "histogram" or previous.types.get(name) == "counter":
                assert current.samples[(name, labels)] >= value, name
        previous = current


def test_junk_adds_no_series(counted):
    service, issuer = counted
    names = {key for key in metrics(service).samples}
    for _ in range(50):
        junk = secrets.token_hex(8)
        service.reject(issuer.token(iss=f"https://{junk}.example.com"), "provider_unknown")
        service.verify(jws(issuer.keys[0], issuer.claims(aud=junk), kid=junk, typ="JWT"))
        service.verify(issuer.token(), provider=junk)
        service.api.get(f"/{junk}")
        service.api.request("GET", "/livez", None, {"User-Agent": junk, "X-Request-Id": junk})
    response = service.admin.get("/metrics")
    assert junk not in response.text
    assert len(Metrics(response.text).samples.keys() - names) < 20


def test_key_fetches_and_their_age_are_reported(counted):
    service, issuer = counted
    before = metrics(service)
    assert before.value("assay_key_fetches_total", provider="oidc") == 1
    age = before.value("assay_keys_age_seconds", provider="oidc")
    assert 0 <= age < 60
    issuer.jwks.status = 500
    service.admin.post("/v1/providers/oidc/refresh")
    after = metrics(service)
    assert after.value("assay_key_fetches_total", provider="oidc") >= 2
    assert len(after.label_values("assay_key_fetches_total", "result")) >= 2


def test_the_duration_of_verifications_is_measured(counted):
    service, issuer = counted
    for _ in range(3):
        service.accept(issuer.token())
    found = metrics(service)
    assert found.types["assay_verify_duration_seconds"] == "histogram"
    assert found.value("assay_verify_duration_seconds_count") >= 3
    assert 0 < found.value("assay_verify_duration_seconds_sum") < 10


def test_limits_are_reported_as_configured(server):
    limits = {"max_connections": 77, "max_in_flight": 5, "max_buffered": "1MiB"}
    with Service(provider(server.issuer("op", ec_key("op"))), limits=limits) as service:
        found = metrics(service)
        told = {limit: found.value("assay_limit", limit=limit) for limit in found.label_values("assay_limit", "limit")}
        assert told == {"max_connections": 77, "max_in_flight": 5, "max_buffered": 1 << 20}


def test_the_resources_of_the_process_are_reported_correctly(counted):
    service, _ = counted
    found = metrics(service)
    resident = service.resident()
    assert 0.5 * resident < found.value("process_resident_memory_bytes") < 2 * resident
    assert abs(found.value("process_open_fds") - service.descriptors()) <= 3
    assert found.value("process_max_fds") >= 1024
    assert 0 < found.value("process_cpu_seconds_total") < 60
    assert now() - 60 < found.value("process_start_time_seconds") <= now()
