"""`deploy/observability`: everything that rules, dashboard and runbook refer to exists, and the rules work."""

import contextlib
import json
import pathlib
import re
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request

import pytest
import yaml

from harness.contract import STATUS
from harness.issuer import KeyServer
from harness.metrics import Metrics
from harness.service import REPOSITORY, Service, provider
from harness.tokens import ec_key, jws
from harness.waiting import poll

FOLDER = REPOSITORY / "deploy/observability"
RULES = yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))
ALL_RULES = [rule for group in RULES["groups"] for rule in group["rules"]]
ALERTS = [rule for rule in ALL_RULES if "alert" in rule]
RECORDED = {rule["record"]: rule["expr"] for rule in ALL_RULES if "record" in rule}
TESTS = ("alerts_test.yaml", "alerts_days_test.yaml")
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
RUNBOOK = (FOLDER / "RUNBOOK.md").read_text(encoding="utf-8")
# The default address of the runbook.
RUNBOOK_ADDRESS = "deploy/observability/RUNBOOK.md"

EXPRESSIONS = (
    {f"alert {rule['alert']}": rule["expr"] for rule in ALERTS}
    | {f"record {name}": expression for name, expression in RECORDED.items()}
    | {
        f"panel {panel['title']} {target['refId']}": target["expr"]
        for panel in PANELS
        for target in panel["targets"]
    }
)
# Labels and series that Prometheus itself adds for a target.
TARGET_LABELS = {"job", "instance"}
PROMETHEUS_SERIES = {"up": set(), "ALERTS": {"alertname", "alertstate", "provider"}}
# Served only if a listener uses TLS. test_access_tls.py tests them.
TLS_SERIES = {
    "assay_tls_certificate_expiry_timestamp_seconds": {"listener"},
    "assay_tls_reloads_total": {"listener", "result"},
}

# Served only if a provider has clients or accepts notifications. Other tests cover them.
OPTIONAL_SERIES = {
    "assay_notifications_total": {"provider", "kind", "code"},
    "assay_provider_calls_total": {"provider", "endpoint", "outcome"},
    "assay_provider_calls_full_total": {"provider"},
}
CALL_OUTCOMES = {
    *("ok", "grant_invalid", "client_rejected", "provider_refused"),
    *("answer_invalid", "timeout", "unreachable", "unavailable"),
}

SELECTOR = re.compile(r"(?<![\w:\"])((?:assay|job)_?[\w]*[:_][\w:]+|up|ALERTS)\b\s*(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
GROUPING = re.compile(r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)")


@pytest.fixture(scope="module")
def service():
    """A service with some activity of every kind, so that each metric and label has a sample."""
    with KeyServer() as server:
        issuer = server.issuer("op", ec_key("op"))
        down = server.issuer("down", ec_key("op"))
        down.jwks.status = 500
        gateway = {"policies": [{"id": "web", "providers": ["oidc"]}]}
        with Service(provider(issuer), provider(down, "down", optional=True), sign_ins={}, dpop={}, forward_auth=gateway) as service:
            service.wait_until_ready()
            service.accept(issuer.token())
            service.reject(down.token(), "keys_unavailable")
            for number in range(4):
                token = jws(ec_key("nobody's"), issuer.claims(), kid=f"made-up-{number}")
                service.reject(token, "key_not_found")
            begun = service.api.post("/v1/sign-ins", {"provider": "oidc"}).json
            finish = {"sign_in": begun["sign_in"], "id_token": issuer.token(nonce=begun["nonce"])}
            for status in (200, 422):
                assert service.api.post("/v1/sign-ins/finish", finish).status == status
            service.api.get("/v1/forward-auth/web")
            service.api.get("/nothing")
            service.good_token = issuer.token()
            yield service


@pytest.fixture(scope="module")
def metrics(service):
    return Metrics(service.admin.get("/metrics").text)


@pytest.fixture(scope="module")
def labels(metrics):
    """The labels of each series from the service, from Prometheus, or from a recording rule."""
    found = {name: TARGET_LABELS | of for name, of in (PROMETHEUS_SERIES | TLS_SERIES | OPTIONAL_SERIES).items()}
    for name, of in metrics.samples:
        found.setdefault(name, set(TARGET_LABELS)).update(label for label, _ in of)
    # By convention, a recorded series' name begins with its labels.
    return found | {name: set(name.split(":")[0].split("_")) for name in RECORDED}


def selectors(expression: str) -> list[tuple[str, list[tuple[str, str, str]]]]:
    return [(name, MATCHER.findall(matchers)) for name, matchers in SELECTOR.findall(expression)]


@pytest.mark.parametrize("place", EXPRESSIONS)
def test_every_metric_and_label_in_an_expression_is_served(labels, place):
    expression = EXPRESSIONS[place]
    found = selectors(expression)
    assert found, "no metric found in the expression"
    for name, matchers in found:
        assert name in labels, name
        assert {label for label, _, _ in matchers} <= labels[name], name
    known = set().union(*(labels[name] for name, _ in found))
    for group in GROUPING.findall(expression):
        assert {label.strip() for label in group.split(",") if label.strip()} <= known, group


@pytest.mark.parametrize("place", EXPRESSIONS)
def test_every_label_value_in_an_expression_can_occur(metrics, place):
    possible = {
        "code": set(STATUS) | {"ok"},
        "state": metrics.label_values("assay_keys_state", "state") | metrics.label_values("assay_store_state", "state"),
        "result": metrics.label_values("assay_key_fetches_total", "result"),
        "le": metrics.label_values("assay_verify_duration_seconds_bucket", "le"),
        "route": {"/v1/verify", "/v1/verify/batch"} | metrics.label_values("assay_http_requests_total", "route"),
        "status": {str(status) for status in STATUS.values()} | {"200", "500"},
        "alertstate": {"firing", "pending"},
        "outcome": metrics.label_values("assay_store_claims_total", "outcome") | CALL_OUTCOMES,
    }
    for _, matchers in selectors(EXPRESSIONS[place]):
        for label, operator, text in matchers:
            if label not in possible:
                assert label in {"job", "instance", "provider", "alertname"}, label
            elif operator in ("=", "!="):
                assert text in possible[label], f"{label}={text}"
            else:
                for alternative in alternatives(text):
                    assert any(re.fullmatch(alternative, value) for value in possible[label]), alternative


def alternatives(pattern: str) -> list[str]:
    """The alternatives in a pattern, with one pair of parentheses in each expanded."""
    parts = []
    for part in re.findall(r"(?:[^|()]|\([^()]*\))+", pattern):
        group = re.search(r"\(([^()]*)\)", part)
        inner = group[1].split("|") if group else [""]
        parts += [part.replace(group[0], text) if group else part for text in inner]
    return parts


@pytest.mark.parametrize("name", RECORDED)
def test_every_recorded_series_is_used(name):
    assert any(name in expression for place, expression in EXPRESSIONS.items() if place != f"record {name}")


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_every_alert_has_severity_description_and_runbook(rule):
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
    # A rule needs `for`, unless it counts increases.
    assert "for" in rule or "increase" in rule["expr"]
    page, anchor = rule["annotations"]["runbook_url"].split("#")
    assert page == RUNBOOK_ADDRESS
    assert anchor in anchors(RUNBOOK)


def test_the_documented_command_changes_the_runbooks_address():
    """Links in mail and chat must be absolute."""
    text = (FOLDER / "alerts.yaml").read_text(encoding="utf-8")
    command = re.search(r"(?m)^#\s+sed -i ('.*') alerts\.yaml$", text)[1]
    result = subprocess.run(["sh", "-c", f"sed {command}"], input=text, capture_output=True, text=True, check=True)
    links = re.findall(r"runbook_url: (\S+)", result.stdout)
    assert len(links) == len(ALERTS)
    assert {link.split("#")[0] for link in links} == {"https://wiki.example.org/assay"}


@pytest.mark.parametrize("name", ["AssayUnseen", "AssayFleetDown", "AssayEverySignInFails", "AssaySignInsFailing", "AssayStoreUnavailable"])
def test_alerts_about_outages_and_missing_metrics_are_critical(name):
    (rule,) = [rule for rule in ALERTS if rule["alert"] == name]
    assert rule["labels"]["severity"] == "critical"


def anchors(markdown: str) -> set[str]:
    """The anchors of headings, as GitHub and GitLab generate them."""
    headings = re.findall(r"(?m)^#+ (.+)$", markdown)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def sections(markdown: str) -> dict[str, str]:
    parts = re.split(r"(?m)^### (.+)$", markdown)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_runbook_has_exactly_one_section_for_every_alert():
    assert list(sections(RUNBOOK)) == [rule["alert"] for rule in ALERTS]


@pytest.mark.parametrize("name", [rule["alert"] for rule in ALERTS])
def test_every_section_of_the_runbook_answers_the_same_questions(name):
    questions = re.findall(r"(?m)^\*\*(.+?)\*\*", sections(RUNBOOK)[name])
    assert questions == ["Meaning.", "Impact.", "Diagnosis.", "Mitigation.", "External causes."]


def test_every_log_line_of_the_runbook_exists_in_the_sources():
    sources = "".join(path.read_text() for path in (REPOSITORY / "Sources").rglob("*.swift"))
    named = re.findall(r"log line `([^`]+)`", " ".join(RUNBOOK.split()))
    assert named
    for message in named:
        assert f'"{message}"' in sources, message


def test_every_curl_command_of_the_runbook_succeeds(service):
    lines = set(re.findall(r"(?m)^ *curl (.*)http://127\.0\.0\.1:9090(/\S*)", RUNBOOK))
    assert len(lines) >= 3
    for options, path in lines:
        method = "POST" if "-X POST" in options else "GET"
        path = path.split("|")[0].strip().replace("/apple/", "/oidc/")
        assert service.admin.request(method, path).status == 200, path


def alerts_that(kind: str) -> set[str]:
    """The alerts that the rules' tests expect to fire, or not to fire."""
    found = set()
    for file in TESTS:
        for test in yaml.safe_load((FOLDER / file).read_text(encoding="utf-8"))["tests"]:
            for case in test.get("alert_rule_test", []):
                if bool(case["exp_alerts"]) == (kind == "fire"):
                    found.add(case["alertname"])
            for case in test.get("promql_expr_test", []):
                pattern = re.search(r'alertname=~?"([^"]+)"', case["expr"])
                if pattern and bool(case["exp_samples"]) == (kind == "fire"):
                    found |= {rule["alert"] for rule in ALERTS if re.fullmatch(pattern[1], rule["alert"])}
    return found


@pytest.mark.parametrize("name", [rule["alert"] for rule in ALERTS])
def test_every_alert_is_tested_with_and_without_firing(name):
    assert name in alerts_that("fire")
    assert name in alerts_that("do not")


def promtool(*arguments: str, directory: pathlib.Path = FOLDER) -> str:
    """Runs `promtool`, which is part of Debian's `prometheus` package."""
    result = subprocess.run(["promtool", *arguments], cwd=directory, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_rules_are_valid():
    assert f"{len(ALL_RULES)} rules found" in promtool("check", "rules", "--lint-fatal", "alerts.yaml")


def test_the_rules_pass_their_tests():
    assert promtool("test", "rules", *TESTS).count("SUCCESS") == len(TESTS)


def test_promtool_accepts_the_metrics(service):
    page = service.admin.get("/metrics").body
    result = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_scrape_configuration_is_valid():
    promtool("check", "config", "prometheus.yaml")


POD = {
    "__address__": "10.1.2.3:9090",
    "__meta_kubernetes_namespace": "shop",
    "__meta_kubernetes_pod_name": "backend-7d9",
    "__meta_kubernetes_pod_phase": "Running",
    "__meta_kubernetes_pod_label_app_kubernetes_io_name": "backend",
    "__meta_kubernetes_pod_container_port_name": "assay-admin",
}


@pytest.mark.parametrize(
    ("change", "is_scraped"),
    [
        ({}, True),
        ({"__meta_kubernetes_pod_container_port_name": "http"}, False),
        ({"__meta_kubernetes_pod_phase": "Succeeded"}, False),
    ],
    ids=["a running pod", "another port of it", "a pod that has ended"],
)
def test_pods_are_selected_by_port_and_grouped_by_app(tmp_path, change, is_scraped):
    """Debian builds promtool without Kubernetes, so a file replaces the service discovery."""
    settings = yaml.safe_load((FOLDER / "prometheus-kubernetes.yaml").read_text(encoding="utf-8"))
    (job,) = settings["scrape_configs"]
    assert job.pop("kubernetes_sd_configs") == [{"role": "pod"}]
    labels = POD | change
    (tmp_path / "pods.json").write_text(json.dumps([{"targets": [labels.pop("__address__")], "labels": labels}]))
    job["file_sd_configs"] = [{"files": ["pods.json"]}]
    shutil.copy(FOLDER / "alerts.yaml", tmp_path)
    (tmp_path / "prometheus.yaml").write_text(yaml.safe_dump(settings))
    promtool("check", "config", "prometheus.yaml", directory=tmp_path)
    arguments = ("check", "service-discovery", "--timeout=1s", "prometheus.yaml", job["job_name"])
    said = promtool(*arguments, directory=tmp_path)
    (target,) = json.loads(said)
    expected = {"job": "assay/shop/backend", "namespace": "shop", "pod": "backend-7d9", "instance": "10.1.2.3:9090"}
    found = {name: value for name, value in target["labels"].items() if not name.startswith("__")}
    assert found == (expected if is_scraped else {})


def test_the_dashboard_is_portable():
    kinds = {panel["type"] for panel in DASHBOARD["panels"]}
    assert kinds <= {"row", "timeseries", "heatmap", "stat", "table", "state-timeline"}, "only panels that Grafana has by itself"
    assert DASHBOARD["templating"]["list"][0]["type"] == "datasource"
    assert "id" not in DASHBOARD and "__inputs" not in DASHBOARD
    for panel in PANELS:
        assert panel["datasource"]["uid"] == "${datasource}"
        assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"])
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(numbers) == len(set(numbers))
    names = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD["panels"]))) - {"__rate_interval"}
    assert used == names


def test_the_panels_of_the_dashboard_do_not_overlap():
    taken = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        cells = {
            (place["x"] + column, place["y"] + line) for column in range(place["w"]) for line in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


@pytest.fixture(scope="module")
def prometheus(service, tmp_path_factory):
    """A Prometheus with the project's configuration, which scrapes the service every second."""
    directory = tmp_path_factory.mktemp("prometheus")
    settings = yaml.safe_load((FOLDER / "prometheus.yaml").read_text(encoding="utf-8"))
    settings["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    settings["scrape_configs"][0]["static_configs"] = [{"targets": [service.admin.address]}]
    rules = json.loads(json.dumps(RULES))
    for group in rules["groups"]:
        group.pop("interval", None)
    (directory / "alerts.yaml").write_text(yaml.safe_dump(rules))
    (directory / "prometheus.yaml").write_text(yaml.safe_dump(settings))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            ["prometheus", "--config.file=prometheus.yaml", f"--web.listen-address={address}"],
            cwd=directory,
            stdout=log,
            stderr=log,
        )
    try:
        yield lambda path, **query: ask(f"http://{address}/api/v1/{path}", query)
    finally:
        process.terminate()
        process.wait(30)


def ask(url: str, query: dict):
    with urllib.request.urlopen(f"{url}?{urllib.parse.urlencode(query)}", timeout=15) as response:
        return json.load(response)["data"]


def seen(condition):
    """Polls Prometheus for a condition. It may not be listening yet."""

    def asked():
        with contextlib.suppress(OSError):
            return condition()

    return poll(asked, timeout=30)


def test_prometheus_scrapes_the_service_and_evaluates_every_rule(prometheus):
    def evaluated():
        rules = [rule for group in prometheus("rules")["groups"] for rule in group["rules"]]
        return rules if rules and all(rule["health"] != "unknown" for rule in rules) else None

    seen(lambda: prometheus("query", query="assay_build_info")["result"])
    rules = seen(evaluated)
    assert len(rules) == len(ALL_RULES)
    assert [rule for rule in rules if rule["health"] != "ok"] == []
    # The second provider has no keys.
    state = 'ALERTS{alertname="AssayKeysUnavailable", provider="down", alertstate="pending"}'
    assert seen(lambda: prometheus("query", query=state)["result"])


# These have no data yet.
EMPTY = {
    "panel Usable and omitted keys B",
    "panel Instances B",
    "panel Firing alerts A",
}


@pytest.mark.parametrize("place", [place for place in EXPRESSIONS if place.startswith("panel ")])
def test_every_panel_of_the_dashboard_shows_data(prometheus, service, place):
    expression = EXPRESSIONS[place].replace("$__rate_interval", "1m")
    expression = re.sub(r"\$(job|instance|provider)", ".*", expression)
    if place in EMPTY:
        prometheus("query", query=expression)
        return

    def shown():
        # A rate needs events between two scrapes.
        service.accept(service.good_token)
        return prometheus("query", query=expression)["result"]

    assert seen(shown)
