"""`deploy/helm`: the chart, rendered by Helm, is valid, and Assay runs with its settings, also in a Deployment that is not ours."""

import json
import pathlib
import shutil
import subprocess

import kubernetes_validate
import pytest
import yaml

from deploy.kustomize import build
from deploy.pod import ADDRESS, Pod
from deploy.test_kubernetes import RUNBOOK_ADDRESS, VERSIONS, Outside, containers, token, violations
from harness.service import REPOSITORY, run

FOLDER = REPOSITORY / "deploy/helm"
CHART = FOLDER / "assay"
HELM = REPOSITORY / ".venv/bin/helm"
DIGEST = "5a" * 32
PROVIDERS = [
    {"id": "apple", "preset": "apple", "audiences": ["com.example.app"]},
    {"id": "example", "issuer": "https://auth.example.com", "audiences": ["my-client-id"], "nonce": {"required": True}, "optional": True},
]
SHARED = {"settings": {"api_keys": [DIGEST], "providers": PROVIDERS}}
TLS = {"settings": {"providers": PROVIDERS}, "tls": {"secretName": "assay-tls"}}
MONITORED = {name: {"enabled": True} for name in ("podMonitor", "prometheusRule", "dashboard")}
OPERATORS = ("PodMonitor", "PrometheusRule")


@pytest.fixture(scope="module")
def packaged(tmp_path_factory):
    """The chart as a release ships it."""
    directory = tmp_path_factory.mktemp("chart")
    made = subprocess.run([REPOSITORY / "scripts/chart", directory], check=True, capture_output=True, text=True)
    return pathlib.Path(made.stdout.strip())


def helm(*arguments, **values) -> subprocess.CompletedProcess:
    """Runs Helm with values."""
    command = [HELM, *arguments, "--values", "-"]
    return subprocess.run(command, input=json.dumps(values), capture_output=True, text=True, timeout=60, check=False)


def rendered(chart: pathlib.Path, name: str = "assay", **values) -> list[dict]:
    done = helm("template", name, chart, "--namespace", "ours", "--kube-version", VERSIONS[0], **values)
    assert done.returncode == 0, done.stderr
    return [object for object in yaml.safe_load_all(done.stdout) if object]


def refused(chart: pathlib.Path, **values) -> str:
    done = helm("template", "assay", chart, **values)
    assert done.returncode != 0
    return done.stderr


def of_kind(objects: list[dict], kind: str) -> list[dict]:
    return [object for object in objects if object["kind"] == kind]


def the(objects: list[dict], kind: str) -> dict:
    [object] = of_kind(objects, kind)
    return object


def pod_of(objects: list[dict]) -> dict:
    return the(objects, "Deployment")["spec"]["template"]["spec"]


def assay_of(objects: list[dict]) -> dict:
    [container] = [container for container in containers(pod_of(objects)) if container["name"] == "assay"]
    return container


def settings_of(objects: list[dict]) -> str:
    [map] = [map for map in of_kind(objects, "ConfigMap") if "assay.yaml" in map["data"]]
    return map["data"]["assay.yaml"]


def validate(objects: list[dict]) -> None:
    for object in objects:
        if object["kind"] not in OPERATORS:
            for version in VERSIONS:
                kubernetes_validate.validate(object, version, strict=True)


@pytest.fixture(scope="module")
def example(tmp_path_factory, packaged):
    """The chart of somebody's backend, with the packaged chart as its dependency."""
    directory = tmp_path_factory.mktemp("shop")
    shutil.copytree(FOLDER / "example", directory, dirs_exist_ok=True)
    (directory / "charts").mkdir()
    shutil.copy(packaged, directory / "charts")
    return directory


# The chart itself.


def test_helm_finds_no_fault():
    done = helm("lint", CHART, "--strict", "--quiet", **SHARED)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_chart_has_the_binarys_version():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = run("--version").stdout.decode().split()[1]
    assert (chart["version"], chart["appVersion"]) == (version, version)
    [dependency] = yaml.safe_load((FOLDER / "example/Chart.yaml").read_text())["dependencies"]
    assert dependency["version"] == version


def test_the_package_is_the_chart_with_the_schema_of_the_settings(packaged, tmp_path):
    assert rendered(packaged, metrics=MONITORED, **SHARED) == rendered(CHART, metrics=MONITORED, **SHARED)
    assert "providers" in refused(packaged)
    wrong = SHARED["settings"] | {"shutdown_grase": "10s"}
    assert "shutdown_grase" in refused(packaged, settings=wrong)
    again = subprocess.run([REPOSITORY / "scripts/chart", tmp_path], check=True, capture_output=True, text=True).stdout.strip()
    assert pathlib.Path(again).read_bytes() == packaged.read_bytes()


@pytest.mark.parametrize("wrong", [{"mod": "shared"}, {"mode": "both"}, {"ports": {"service": "http"}}, {"image": {"digest": "abc"}}])
def test_the_schema_detects_mistakes(wrong):
    assert next(iter(wrong)) in refused(CHART, **(SHARED | wrong))


# The shared service.


@pytest.mark.parametrize("values", [SHARED, TLS], ids=["API keys", "client certificates"])
def test_a_shared_service_is_valid_and_has_minimal_privileges(values):
    objects = rendered(CHART, metrics=MONITORED, **values)
    validate(objects)
    assert violations(pod_of(objects)) == []
    assert {object["metadata"]["name"] for object in objects} == {"assay", "assay-dashboard"}
    expected = {"Deployment", "Service", "ConfigMap", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy"}
    assert {object["kind"] for object in objects} == expected | set(OPERATORS)


def test_every_option_of_a_shared_service_is_valid():
    more = {
        "autoscaling": {"enabled": False},
        "replicas": 3,
        "image": {"digest": "sha256:" + "0" * 64},
        "labels": {"team": "identity"},
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
        "env": [{"name": "HTTPS_PROXY", "value": "http://proxy.example.com:3128"}],
        "volumes": [{"name": "authorities", "configMap": {"name": "authorities"}}],
        "volumeMounts": [{"name": "authorities", "mountPath": "/etc/authorities", "readOnly": True}],
        "imagePullSecrets": [{"name": "registry"}],
        "podAnnotations": {"example.com/a": "b"},
        "podLabels": {"tier": "auth"},
        "nodeSelector": {"kubernetes.io/arch": "amd64"},
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": {}},
        "priorityClassName": "high",
        "fullnameOverride": "tokens",
    }
    objects = rendered(CHART, **(SHARED | more))
    validate(objects)
    assert the(objects, "Deployment")["spec"]["replicas"] == 3
    assert not of_kind(objects, "HorizontalPodAutoscaler")
    assert assay_of(objects)["image"] == "registry.example.com/assay@sha256:" + "0" * 64
    assert {object["metadata"]["name"] for object in objects} == {"tokens"}


def test_a_shared_service_is_that_of_the_kustomization():
    def plain(objects: list[dict]) -> dict:
        kept = {}
        for object in objects:
            if object["kind"] != "ConfigMap":
                text = json.dumps(object["spec"], sort_keys=True)
                # Helm also selects by the release. The chart's volumes are named as a sidecar's.
                text = text.replace('"app.kubernetes.io/instance": "assay", ', "").replace('"name": "assay-settings"', '"name": "settings"')
                for name in ("secrets", "keys"):
                    text = text.replace(f'"name": "assay-{name}"', f'"name": "{name}"')
                kept[object["kind"]] = json.loads(text)
        return kept

    ours, theirs = plain(rendered(CHART, **SHARED)), plain(build(REPOSITORY / "deploy/kubernetes/base/shared"))
    [container] = ours["Deployment"]["template"]["spec"]["containers"]
    assert container.pop("imagePullPolicy") == "IfNotPresent"
    for policy in (ours["NetworkPolicy"], theirs["NetworkPolicy"]):
        policy["egress"].sort(key=json.dumps)
    assert ours == theirs


def test_labelled_backends_of_other_namespaces_may_call_a_shared_service():
    """A peer without `namespaceSelector` would select only pods of the policy's own namespace."""
    objects = rendered(CHART, **SHARED)
    ingress = the(objects, "NetworkPolicy")["spec"]["ingress"]
    [peer] = next(rule["from"] for rule in ingress if rule["ports"] == [{"port": "http"}])
    assert peer == {"namespaceSelector": {}, "podSelector": {"matchLabels": {"assay-client": "true"}}}
    done = helm("install", "assay", CHART, "--dry-run=client", "--namespace", "ours", **SHARED)
    assert done.returncode == 0, done.stderr
    assert "assay-client" in done.stdout.split("NOTES:")[1]


def test_a_shared_service_needs_keys_or_certificates():
    assert "settings.api_keys" in refused(CHART, settings={"providers": PROVIDERS})


def test_a_users_own_config_map_replaces_the_settings():
    objects = rendered(CHART, existingConfigMap="mine", tls=TLS["tls"])
    assert not of_kind(objects, "ConfigMap")
    [settings] = [volume for volume in pod_of(objects)["volumes"] if volume["name"] == "assay-settings"]
    assert settings["configMap"] == {"name": "mine"}


# A sidecar in a Deployment that is not ours.


def test_a_parents_deployment_gets_the_sidecar(example):
    objects = rendered(example, "shop")
    validate(objects)
    pod = pod_of(objects)
    assert violations(pod) == []
    assert [container["name"] for container in containers(pod)] == ["assay", "shop"]
    assert {object["kind"] for object in objects} == {"Deployment", "ConfigMap"}
    [settings] = [volume for volume in pod["volumes"] if volume["name"] == "assay-settings"]
    assert settings["configMap"]["name"] == the(objects, "ConfigMap")["metadata"]["name"]


def test_the_sidecar_is_that_of_the_kustomize_component(example):
    [component] = [each for each in pod_of(build(REPOSITORY / "deploy/kubernetes/base/sidecar"))["initContainers"]]
    assert assay_of(rendered(example, "shop")) == component | {"imagePullPolicy": "IfNotPresent"}


def test_a_sidecars_metrics_are_scraped(example):
    assert "metrics.sidecar" in refused(example, assay={"metrics": MONITORED})
    objects = rendered(example, "shop", assay={"metrics": MONITORED | {"sidecar": True}})
    validate(objects)
    [port] = assay_of(objects)["ports"]
    monitor = the(objects, "PodMonitor")["spec"]
    assert port["name"] == monitor["podMetricsEndpoints"][0]["port"]
    assert monitor["selector"] == {}
    settings = yaml.safe_load(settings_of(objects))
    assert settings["admin"] == {"listen": f"0.0.0.0:{port['containerPort']}", "api_keys": ["0" * 64]}
    assert settings["service"]["listen"].startswith("127.0.0.1:")


def test_a_sidecar_needs_its_mode(example):
    assert "mode: sidecar" in refused(example, assay={"mode": "shared", "settings": SHARED["settings"]})


# Monitoring.


def test_the_monitors_are_those_of_the_component():
    objects = rendered(CHART, metrics=MONITORED, **SHARED)
    component = REPOSITORY / "deploy/kubernetes/components/prometheus-operator"
    theirs = yaml.safe_load((component / "podmonitor.yaml").read_text())["spec"]
    assert the(objects, "PodMonitor")["spec"]["podMetricsEndpoints"] == theirs["podMetricsEndpoints"]


def test_the_alerts_link_the_configured_runbook():
    metrics = {"prometheusRule": {"enabled": True, "runbook": "https://wiki.example.org/assay", "labels": {"release": "prom"}}}
    rules = the(rendered(CHART, metrics=metrics, **SHARED), "PrometheusRule")
    alerts = (REPOSITORY / "deploy/observability/alerts.yaml").read_text()
    assert rules["spec"] == yaml.safe_load(alerts.replace(RUNBOOK_ADDRESS, "https://wiki.example.org/assay"))
    assert rules["metadata"]["labels"]["release"] == "prom"


def test_the_dashboard_is_shipped():
    [dashboard] = [each for each in of_kind(rendered(CHART, metrics=MONITORED, **SHARED), "ConfigMap") if "assay.json" in each["data"]]
    assert json.loads(dashboard["data"]["assay.json"]) == json.loads((REPOSITORY / "deploy/observability/dashboard.json").read_text())
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"


# Assay runs with the settings that the chart writes.


def test_settings_arrive_as_they_were_written(tmp_path):
    odd = {"limits": {"max_body": 1048576}, "clock_skew": "90s", "log": {"level": "debug"}}
    objects = rendered(CHART, settings=SHARED["settings"] | odd)
    written = yaml.safe_load(settings_of(objects))
    assert {name: written[name] for name in odd} == odd
    (tmp_path / "assay.yaml").write_text(settings_of(objects))
    checked = run("config", "check", "--config", str(tmp_path / "assay.yaml"))
    assert checked.returncode == 0, checked.stderr


@pytest.fixture
def outside(tmp_path):
    return Outside(tmp_path)


def test_the_sidecar_of_a_parent_serves_its_pod(example, outside):
    ports = {"ports": {"service": 8181, "admin": 9191}, "settings": {"providers": PROVIDERS}}
    objects = rendered(example, "shop", assay=ports)
    variables = outside.cache | outside.keys
    with Pod(assay_of(objects), settings_of(objects), outside.directory, **variables) as pod:
        pod.wait_until(lambda: pod.probe("readinessProbe"))
        assert pod.verify("http://127.0.0.1:8181", token()) == (200, "user-1")
        assert pod.verify(f"http://{ADDRESS}:8181", token()) == (0, "")


def test_a_shared_service_accepts_its_callers(outside):
    objects = rendered(CHART, **TLS)
    variables = outside.cache | outside.keys | outside.secret
    trusting = ["--cacert", outside.authority]
    with Pod(assay_of(objects), settings_of(objects), outside.directory, **variables) as pod:
        pod.wait_until(lambda: pod.probe("readinessProbe"))
        address = f"https://{ADDRESS}:8080"
        assert pod.verify(address, token(), *trusting, "--cert", outside.backend) == (200, "user-1")
        assert pod.verify(address, token(), *trusting) == (0, "")
