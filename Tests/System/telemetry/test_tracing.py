"""Traces: the log has the caller's trace, and spans are exported without delaying any request."""

import base64
import json
import re

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from harness import collector as collectors
from harness.certificates import Authority
from harness.client import request_bytes
from harness.collector import Collector
from harness.metrics import Metrics
from harness.service import Service, provider, run, write_config
from harness.tokens import ec_key, sha256_hex

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
SAMPLED = f"00-{TRACE}-{PARENT}-01"
UNSAMPLED = f"00-{TRACE}-{PARENT}-00"
MEMBERS = {"trace_id", "span_id", "parent_id", "trace_flags"}


@pytest.fixture
def collector():
    with Collector() as one:
        yield one


@pytest.fixture
def issuer(server):
    return server.issuer("traced", ec_key("traced"))


def traced(collector, *providers, more: dict | None = None, **settings) -> Service:
    return Service(*providers, tracing=collectors.settings(collector, **(more or {})), **settings)


def spans_metric(service: Service, **labels) -> float:
    name = "assay_trace_spans_dropped_total" if labels else "assay_trace_spans_exported_total"
    return Metrics(service.admin.get("/metrics").text).value(name, **labels)


class TestLog:
    """The trace in the log of a service without a collector."""

    @pytest.fixture(scope="class")
    def service(self, shared_server):
        self.issuer = shared_server.issuer("log", ec_key("log"))
        with Service(provider(self.issuer), log={"level": "debug"}) as service:
            service.wait_until_ready()
            yield service

    def line(self, service, name: str, headers: dict, path="/v1/verify", method="POST", body=b"{}") -> dict:
        service.api.request(method, path, body, headers | {"X-Request-Id": name})
        return service.wait_for_entry(message="request", request_id=name)

    def test_the_log_line_has_the_callers_trace(self, service):
        line = self.line(service, "log-trace", {"traceparent": SAMPLED, "tracestate": "a=secret"})
        assert {name: line[name] for name in MEMBERS & set(line)} == {
            "trace_id": TRACE,
            "parent_id": PARENT,
            "trace_flags": "01",
        }
        # The line of a refused request has it too.
        assert line["code"] == "request_invalid"
        service.hides("secret")

    def test_log_lines_of_every_route_have_the_trace(self, service):
        for name, path, method, body in [
            ("log-batch", "/v1/verify/batch", "POST", b'{"items":[{"id_token":"x"}]}'),
            ("log-document", "/openapi.yaml", "GET", None),
            ("log-unknown", "/nowhere", "GET", None),
        ]:
            line = self.line(service, name, {"TraceParent": UNSAMPLED}, path, method, body)
            assert (line["trace_id"], line["parent_id"], line["trace_flags"]) == (TRACE, PARENT, "00"), name

    def test_without_a_trace_the_log_line_has_no_members_for_it(self, service):
        assert not MEMBERS & set(self.line(service, "log-none", {}))

    malformed = {
        "empty": "",
        "short": "x",
        "capitals": SAMPLED.upper(),
        "longer": SAMPLED + "-00",
        "version": "ff" + SAMPLED[2:],
        "no-trace": f"00-{'0' * 32}-{PARENT}-01",
        "no-parent": f"00-{TRACE}-{'0' * 16}-01",
        "list": SAMPLED + "," + SAMPLED,
        "json": '"},{"',
        "long": "0" * 4000,
    }

    @pytest.mark.parametrize("name", malformed)
    def test_a_malformed_traceparent_is_ignored(self, service, name):
        line = self.line(service, f"log-{name}", {"traceparent": self.malformed[name]})
        assert not MEMBERS & set(line)
        assert line["status"] == 400

    def test_two_traceparents_are_ignored(self, service):
        octets = request_bytes("GET", "/openapi.yaml", None, {"X-Request-Id": "log-two", "traceparent": SAMPLED})
        octets = octets.replace(b"traceparent", b"Traceparent: " + UNSAMPLED.encode() + b"\r\ntraceparent")
        with service.api.connect() as connection:
            connection.send(octets)
            assert connection.response("GET", "/openapi.yaml").status == 200
        assert not MEMBERS & set(service.wait_for_entry(message="request", request_id="log-two"))

    def test_a_later_version_of_traceparent_is_accepted(self, service):
        line = self.line(service, "log-future", {"traceparent": f"cc-{TRACE}-{PARENT}-ff-what-else"})
        assert (line["trace_id"], line["trace_flags"]) == (TRACE, "03")

    def test_no_spans_are_exported_without_a_collector(self, service):
        assert spans_metric(service) == 0


def test_a_request_is_a_span_in_the_callers_trace(issuer, collector):
    with traced(collector, provider(issuer)) as service:
        service.wait_until_ready()
        answer = service.verify(
            issuer.token(),
            {"traceparent": SAMPLED, "tracestate": "rojo=1 , congo=2", "X-Request-Id": "good"},
            provider="oidc",
        )
        assert answer.status == 200
        line = service.wait_for_entry(message="request", request_id="good")
    (span,) = collector.find(kind="server", name="POST /v1/verify")
    assert (span.trace_id, span.parent_id, span.state) == (TRACE, PARENT, "rojo=1,congo=2")
    assert span.flags == 0x301
    assert span.attributes == {
        "http.request.method": "POST",
        "http.route": "/v1/verify",
        "http.response.status_code": 200,
        "assay.provider": "oidc",
        "assay.code": "ok",
    }
    assert span.status == 0
    # The log line names the span.
    assert (line["trace_id"], line["span_id"], line["parent_id"]) == (TRACE, span.span_id, PARENT)
    assert line["trace_flags"] == "01"
    assert abs((span.end - span.start) / 1000 - line["duration_us"]) < 2
    assert span.scope["name"] == "assay" and span.scope["version"]
    assert span.resource["service.name"] == "assay"
    assert span.resource["service.version"] == span.scope["version"]
    assert re.fullmatch("[0-9a-f]{32}", span.resource["service.instance.id"])


def test_spans_report_the_outcome_of_requests(issuer, server, collector):
    down = server.issuer("down", ec_key("down"))
    down.jwks.status = 500
    with traced(
        collector,
        provider(issuer),
        provider(down, "down", optional=True),
        limits={"keys_timeout": "1s"},
    ) as service:
        service.wait_until_ready()
        parent = {"traceparent": SAMPLED}
        service.verify(issuer.token(exp=1), parent)
        service.verify(down.token(), parent)
        service.api.get("/v1/verify", parent)
        service.api.request("PROPFIND", "/v1/verify?secret=1", None, parent)
        # Unknown paths are not traced, because anyone can request them.
        service.api.get("/secret/path", parent)
        service.api.post("/v1/verify/batch", {"items": [{"id_token": issuer.token()}]}, parent)
        service.admin.post("/v1/providers/oidc/refresh", b"", parent)
        service.admin.post("/v1/providers/secret/refresh", b"", parent)
        for path in ("/livez", "/readyz"):
            service.api.get(path, parent)
        service.admin.get("/metrics", parent)
    found = {
        (span.name, span.attributes["http.response.status_code"]): span
        for span in collector.find(kind="server", trace_id=TRACE)
    }
    assert set(found) == {
        ("POST /v1/verify", 422),
        ("POST /v1/verify", 503),
        ("GET /v1/verify", 405),
        ("HTTP /v1/verify", 405),
        ("POST /v1/verify/batch", 200),
        ("POST /v1/providers/{id}/refresh", 200),
        ("POST /v1/providers/{id}/refresh", 404),
    }
    expired = found["POST /v1/verify", 422]
    assert (expired.attributes["assay.code"], expired.attributes["assay.provider"]) == ("token_expired", "oidc")
    # A rejected token is not an error of the service.
    assert expired.status == 0 and "error.type" not in expired.attributes
    unavailable = found["POST /v1/verify", 503]
    assert (unavailable.status, unavailable.attributes["error.type"]) == (2, "keys_unavailable")
    odd = found["HTTP /v1/verify", 405]
    assert (odd.attributes["http.request.method"], odd.attributes["http.route"]) == ("_OTHER", "/v1/verify")
    assert not any(b"secret" in body for body in collector.bodies)


def test_a_claim_is_a_child_span_of_its_request(issuer, collector):
    with traced(collector, provider(issuer, nonce={"single_use": True}), sign_ins={}) as service:
        service.wait_until_ready()
        parent = {"traceparent": SAMPLED}
        begun = service.api.post("/v1/sign-ins", {"provider": "oidc"}, parent).json
        finish = {"sign_in": begun["sign_in"], "id_token": issuer.token(nonce=begun["nonce"])}
        for _ in range(2):
            service.api.post("/v1/sign-ins/finish", finish, parent)
        service.verify(issuer.token(nonce="first-nonce"), parent, nonce="first-nonce")
        service.verify(issuer.token(nonce="first-nonce"), parent, nonce="first-nonce")
        service.verify(issuer.token(nonce="second-nonce"), parent, nonce="first-nonce")
        items = [{"id_token": issuer.token(nonce=each), "nonce": each} for each in ("third-nonce", "fourth-nonce")]
        service.api.post("/v1/verify/batch", {"items": items}, parent)
    requests = {span.span_id: span for span in collector.find(kind="server", trace_id=TRACE)}
    told = sorted((span.name, span.attributes.get("assay.code", "")) for span in requests.values())
    assert told == [
        ("POST /v1/sign-ins", "ok"),
        ("POST /v1/sign-ins/finish", "ok"),
        ("POST /v1/sign-ins/finish", "sign_in_replayed"),
        ("POST /v1/verify", "nonce_mismatch"),
        ("POST /v1/verify", "nonce_replayed"),
        ("POST /v1/verify", "ok"),
        ("POST /v1/verify/batch", ""),
    ]
    claims = collector.find(kind="client", name="claim")
    # All claims of a batch are one span.
    assert len(claims) == 5
    for claim in claims:
        request = requests[claim.parent_id]
        assert request.start <= claim.start <= claim.end <= request.end
        assert request.attributes.get("assay.code") != "nonce_mismatch" and claim.attributes == {}
    assert not any(text in body for body in collector.bodies for text in (b"first-nonce", begun["sign_in"].encode()))


def test_requests_without_authentication_have_no_span(issuer, collector):
    digest = sha256_hex("a key")
    with traced(collector, provider(issuer), api_keys=[digest]) as service:
        service.wait_until_ready()
        service.verify(issuer.token(), {"traceparent": SAMPLED, "X-Request-Id": "stranger"})
        service.verify(issuer.token(), {"traceparent": SAMPLED, "Authorization": "Bearer a key"})
        line = service.wait_for_entry(message="request", request_id="stranger")
    assert [span.attributes["http.response.status_code"] for span in collector.find(kind="server")] == [200]
    assert line["status"] == 401 and "span_id" not in line and line["trace_id"] == TRACE


def test_sampling_follows_the_caller_or_else_sample_ratio(issuer, collector):
    with traced(collector, provider(issuer), more={"sample_ratio": "0"}) as service:
        service.wait_until_ready()
        service.verify("x", {"X-Request-Id": "root"})
        service.verify("x", {"traceparent": UNSAMPLED, "X-Request-Id": "unsampled"})
        service.verify("x", {"traceparent": SAMPLED, "X-Request-Id": "sampled"})
        root = service.wait_for_entry(message="request", request_id="root")
        unsampled = service.wait_for_entry(message="request", request_id="unsampled")
    assert len(collector.spans) == len(collector.find(kind="server", trace_id=TRACE)) == 1
    assert not MEMBERS & set(root)
    assert (unsampled["trace_id"], unsampled["parent_id"]) == (TRACE, PARENT) and "span_id" not in unsampled


def test_a_request_without_a_trace_begins_one(issuer, collector):
    with traced(collector, provider(issuer)) as service:
        service.wait_until_ready()
        service.verify(issuer.token(), {"X-Request-Id": "one"})
        service.verify(issuer.token(), {"X-Request-Id": "two", "traceparent": "nonsense", "tracestate": "a=1"})
        lines = [service.wait_for_entry(message="request", request_id=name) for name in ("one", "two")]
    spans = collector.find(kind="server", http_route="/v1/verify")
    assert [(span.trace_id, span.span_id) for span in spans] == [(line["trace_id"], line["span_id"]) for line in lines]
    assert spans[0].trace_id != spans[1].trace_id
    assert all(span.parent_id is None and span.state is None and span.flags & 0x300 == 0x100 for span in spans)
    assert all("parent_id" not in line for line in lines)


def test_key_fetches_have_spans(issuer, server, collector):
    moved = server.issuer("moved", ec_key("moved"))
    moved.jwks.status, moved.jwks.headers = 302, {"Location": issuer.jwks_uri + "?signature=secret"}
    server.document("/traced/keys?signature=secret", issuer.jwk_set())
    failing = server.issuer("failing", ec_key("failing"))
    failing.discovery.status = 500
    with traced(
        collector,
        provider(issuer),
        provider(moved, "moved", jwks_uri=moved.jwks_uri),
        provider(failing, "failing", optional=True),
        provider(server.issuer("refused"), "refused", jwks_uri="http://127.0.0.1:1/keys", optional=True),
    ) as service:
        service.wait_until_ready()
        service.wait_for_entry(message="keys can't be fetched", provider="failing")
        service.wait_for_entry(message="keys can't be fetched", provider="refused")

    def of(name: str):
        parent = collector.find(name="fetch keys", assay_provider=name)[0]
        assert parent.kind == "internal" and parent.parent_id is None
        children = [span for span in collector.find(kind="client") if span.parent_id == parent.span_id]
        for child in children:
            assert child.name == "GET" and child.trace_id == parent.trace_id
            assert parent.start <= child.start <= child.end <= parent.end
            assert child.attributes["assay.provider"] == name
            assert child.attributes["http.request.method"] == "GET"
            assert child.attributes["server.address"] == "127.0.0.1"
        return parent, sorted(children, key=lambda span: span.start)

    parent, (discovery, keys) = of("oidc")
    assert parent.status == 0
    assert discovery.attributes["url.full"] == issuer.url + "/.well-known/openid-configuration"
    assert keys.attributes["url.full"] == issuer.jwks_uri
    assert keys.attributes["server.port"] == server.port
    assert keys.attributes["http.response.status_code"] == discovery.attributes["http.response.status_code"] == 200
    _, (redirect, redirected) = of("moved")
    assert redirect.attributes["http.response.status_code"] == 302 and redirect.status == 0
    assert redirected.attributes["url.full"] == issuer.jwks_uri
    assert redirected.attributes["http.request.resend_count"] == 1
    parent, (discovery,) = of("failing")
    assert (discovery.attributes["error.type"], discovery.status) == ("500", 2)
    assert (parent.attributes["error.type"], parent.status) == ("http", 2)
    _, (refused,) = of("refused")
    assert refused.attributes["error.type"] == "connect" and "http.response.status_code" not in refused.attributes
    assert not any(b"secret" in body for body in collector.bodies)
    # The trace is not propagated to the provider.
    asked = issuer.discovery.requests + issuer.jwks.requests + moved.jwks.requests
    assert asked and not any(name.lower() in ("traceparent", "tracestate") for fields in asked for name in fields)


def test_protobufs_own_parser_accepts_the_spans(issuer, collector):
    with traced(collector, provider(issuer)) as service:
        service.wait_until_ready()
        service.verify(issuer.token(), {"traceparent": SAMPLED, "tracestate": "a=1"})
        service.verify("x")

    def with_base64(value, name: str = ""):
        """The same JSON with IDs in base64, as in Protobuf's JSON encoding. OTLP uses hexadecimal."""
        match value:
            case dict():
                return {name: with_base64(member, name) for name, member in value.items()}
            case list():
                return [with_base64(element) for element in value]
            case str() if name in ("traceId", "spanId", "parentSpanId"):
                return base64.b64encode(bytes.fromhex(value)).decode()
        return value

    read = []
    for body in collector.bodies:
        request = json_format.ParseDict(with_base64(json.loads(body)), ExportTraceServiceRequest())
        read += [span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]
    assert len(read) == len(collector.spans) >= 4
    (span,) = [span for span in read if span.trace_id.hex() == TRACE]
    assert (span.parent_span_id.hex(), span.trace_state, span.kind) == (PARENT, "a=1", span.SPAN_KIND_SERVER)
    attributes = {pair.key: pair.value for pair in span.attributes}
    assert attributes["http.response.status_code"].int_value == 200
    assert attributes["http.route"].string_value == "/v1/verify"


# failing collectors


def test_spans_are_exported_periodically_and_counted(issuer, collector):
    with traced(collector, provider(issuer)) as service:
        service.wait_until_ready()
        for _ in range(3):
            service.verify("x", {"traceparent": SAMPLED})
        collector.wait_for(3, kind="server", trace_id=TRACE)
        service.wait_until(lambda: spans_metric(service) == len(collector.spans))
        assert spans_metric(service, reason="queue_full") == 0
        assert spans_metric(service, reason="export_failed") == 0
        assert len({entry["path"] for entry in collector.requests}) == 1


def test_a_full_batch_is_exported_at_once(issuer, collector):
    with traced(collector, provider(issuer)) as service:
        service.wait_until_ready()
        for _ in range(512):
            service.verify("x")
        collector.wait_for(400, kind="server")
        assert len(json.loads(collector.bodies[-1])["resourceSpans"][0]["scopeSpans"][0]["spans"]) <= 512


def test_a_batch_is_retried_if_the_collector_is_busy(issuer, collector):
    collector.answers = [(503, b"", {"Retry-After": "0"}), (429, b"", {"Retry-After": "0"})]
    with traced(collector, provider(issuer)) as service:
        service.wait_until_ready()
        service.verify("x", {"traceparent": SAMPLED})
        collector.wait_for(kind="server", trace_id=TRACE)
        assert collector.bodies[0] == collector.bodies[1] == collector.bodies[2]
        assert len(collector.find(trace_id=TRACE)) == 1
        service.wait_for_entry(message="spans can be exported again")
        # Only the first failure is logged.
        (line,) = service.entries(message="spans can't be exported")
        assert line["level"] == "warning" and line["reason"] == "the collector answered with status 503"
        assert spans_metric(service, reason="export_failed") == 0


def test_spans_that_a_collector_refuses_are_dropped_and_counted(issuer, collector):
    collector.answers = [(400, b"", {}), (302, b"", {"Location": collector.endpoint + "/elsewhere"})]
    with traced(collector, provider(issuer)) as service:
        service.wait_until_ready()
        service.verify("x", {"traceparent": SAMPLED})
        service.wait_until(lambda: spans_metric(service, reason="export_failed") >= 2)
        service.verify("x", {"traceparent": SAMPLED})
        collector.wait_for_batches(2)
        service.wait_until(lambda: spans_metric(service, reason="export_failed") >= 3)
        assert spans_metric(service) == 0
    assert {entry["path"] for entry in collector.requests} == {"/v1/traces"}


def test_a_partially_accepted_batch_is_counted_as_such(issuer, collector):
    collector.answers = [(200, collectors.rejection(2), {})]
    with traced(collector, provider(issuer)) as service:
        service.wait_until_ready()
        service.verify("x")
        service.wait_until(lambda: spans_metric(service, reason="rejected") == 2)
        assert spans_metric(service) == len(collector.spans) - 2


def test_a_hanging_collector_delays_nothing(issuer, collector):
    collector.hold()
    with traced(collector, provider(issuer)) as service:
        service.wait_until_ready()
        requests = 3500
        with service.api.connect() as connection:
            for _ in range(requests // 50):
                connection.send(request_bytes("POST", "/v1/verify", b"{}", {"traceparent": SAMPLED}) * 50)
                for _ in range(50):
                    assert connection.response("POST", "/v1/verify").status == 400
        # Spans beyond one batch in flight and a bounded queue are dropped.
        service.wait_until(lambda: spans_metric(service, reason="queue_full") >= requests - 2048 - 512)
        assert service.accept(issuer.token())
        # A stop does not wait for the collector, either.
        service.stop()
    assert not [line for line in service.log if '"level":"error"' in line]


def test_an_unreachable_collector_delays_nothing(issuer):
    with Collector() as gone:
        endpoint = gone.endpoint
    with Service(provider(issuer), tracing={"otlp_endpoint": endpoint}) as service:
        service.wait_until_ready()
        assert service.accept(issuer.token())
        line = service.wait_for_entry(message="spans can't be exported")
        assert line["reason"] == "the connection was refused or broke"
        assert service.accept(issuer.token())


def test_a_collector_with_tls_needs_a_trusted_ca(issuer, tmp_path):
    authority = Authority(tmp_path, "Collectors")
    with Collector(context=authority.server_context()) as collector:
        with traced(collector, provider(issuer)) as service:
            line = service.wait_for_entry(message="spans can't be exported")
            assert line["reason"] == "TLS failed, or the collector's certificate is not trusted"
        assert not collector.requests
        with traced(collector, provider(issuer), more={"ca_file": str(authority.certificate_file)}) as service:
            service.wait_until_ready()
        assert collector.spans


# settings


def test_the_collector_gets_the_configured_headers(issuer, collector, tmp_path):
    headers = tmp_path / "headers"
    headers.write_text("# who we are\nAuthorization: Bearer canary-collector-key\nx-tenant: a\n")
    more = {"headers_file": str(headers), "service_name": "sign-in"}
    variables = {"OTEL_RESOURCE_ATTRIBUTES": "k8s.pod.name=pod-1,deployment.environment.name=test%20bed"}
    with traced(collector, provider(issuer), more=more, variables=variables) as service:
        service.wait_until_ready()
    assert {entry["headers"]["Authorization"] for entry in collector.requests} == {"Bearer canary-collector-key"}
    assert {entry["headers"]["x-tenant"] for entry in collector.requests} == {"a"}
    resource = collector.spans[0].resource
    assert resource["service.name"] == "sign-in"
    assert resource["k8s.pod.name"] == "pod-1"
    assert resource["deployment.environment.name"] == "test bed"
    assert not any("canary" in line for line in service.log)


def test_opentelemetrys_own_variables_are_supported(issuer, collector):
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint, "OTEL_SERVICE_NAME": "by-variable"}
    with Service(provider(issuer), variables=variables) as service:
        service.wait_until_ready()
    assert collector.spans and {span.resource["service.name"] for span in collector.spans} == {"by-variable"}
    seen = len(collector.requests)
    with Service(provider(issuer), variables=variables | {"OTEL_SDK_DISABLED": "true"}) as service:
        service.wait_until_ready()
    assert len(collector.requests) == seen


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("headers_file", "canary-secret", "line 1 is not of the form name: value"),
        ("headers_file", None, "there is no such file"),
        ("ca_file", "canary-secret", "it contains no PEM certificate"),
        ("ca_file", None, "there is no such file"),
    ],
)
def test_an_invalid_file_prevents_the_start(issuer, collector, tmp_path, name, content, reason):
    file = tmp_path / "file"
    if content is not None:
        file.write_text(content)
    tracing = collectors.settings(collector, **{name: str(file)})
    config = write_config(tmp_path, {"providers": [provider(issuer)], "tracing": tracing})
    for command in (["serve"], ["config", "check"]):
        result = run(*command, "--config", str(config))
        text = (result.stdout + result.stderr).decode()
        assert result.returncode == 1 and f"tracing.{name}" in text and reason in text, text
        assert "canary" not in text


def test_commands_export_no_spans(issuer, collector, tmp_path):
    config = write_config(tmp_path, {"providers": [provider(issuer)], "tracing": collectors.settings(collector)})
    result = run("verify", "--config", str(config), stdin=issuer.token())
    assert result.returncode == 0, result
    assert not collector.requests
