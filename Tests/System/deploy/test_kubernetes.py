"""`deploy/kubernetes`: all fields are valid, pods have minimal privileges, and Assay runs with the settings."""

import copy
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import tarfile

import kubernetes_validate
import pytest
import yaml
from cryptography.x509.oid import ExtendedKeyUsageOID

from deploy import operator_rules
from deploy.choices import check, choices, paths
from deploy.kustomize import API, build, files
from deploy.pod import ADDRESS, IMAGE_BINARY, Pod
from harness.certificates import Authority
from harness.service import REPOSITORY, run
from harness.tokens import ec_key, jws, now

FOLDER = REPOSITORY / "deploy/kubernetes"
PLACES = sorted(str(file.parent.relative_to(FOLDER)) for file in FOLDER.rglob("kustomization.yaml"))
COMPONENTS = [place for place in PLACES if place.startswith("components/")]
KUSTOMIZATIONS = [place for place in PLACES if place not in COMPONENTS]
OPERATOR = "components/prometheus-operator"
KUBECTL = REPOSITORY / ".venv/bin/kubectl"
# The oldest supported version, and the newest one with schemas.
VERSIONS = ("1.30.0", "1.37.0")
RUNBOOK_ADDRESS = "deploy/observability/RUNBOOK.md"
NOBODYS_DIGEST = "0" * 64
# Objects that every cluster has, or that the operator creates.
FROM_ELSEWHERE = {("Secret", "assay-tls"), ("Secret", "assay")}
PROBES = {"startupProbe", "livenessProbe", "readinessProbe"}


class Deployed:
    """The objects of a kustomization."""

    def __init__(self, name: str):
        self.objects = build(FOLDER / name)

    def all(self, kind: str) -> list[dict]:
        return [object for object in self.objects if object["kind"] == kind]

    @property
    def pod(self) -> dict:
        """The pod template of the only Deployment."""
        [deployment] = self.all("Deployment")
        return deployment["spec"]["template"]

    @property
    def containers(self) -> list[dict]:
        return containers(self.pod["spec"])

    @property
    def assay(self) -> dict:
        """The container that runs Assay."""
        [container] = [container for container in self.containers if container["name"] == "assay"]
        return container

    @property
    def settings_text(self) -> str:
        """The settings file that is mounted where Assay looks for it."""
        [mount] = [mount for mount in self.assay["volumeMounts"] if mount["mountPath"] == "/etc/assay"]
        [volume] = [volume for volume in self.pod["spec"]["volumes"] if volume["name"] == mount["name"]]
        [map] = [map for map in self.all("ConfigMap") if map["metadata"]["name"] == volume["configMap"]["name"]]
        return map["data"]["assay.yaml"]

    @property
    def settings(self) -> dict:
        return yaml.safe_load(self.settings_text)


def containers(pod: dict) -> list[dict]:
    return pod.get("initContainers", []) + pod["containers"]


@pytest.fixture(scope="module", params=KUSTOMIZATIONS)
def deployed(request):
    return Deployed(request.param)


# Checks against Kubernetes' schemas.


def test_every_file_belongs_to_a_kustomization():
    used = set().union(*(files(FOLDER / name) for name in PLACES))
    assert used == {file for file in FOLDER.rglob("*") if file.is_file() and file.suffix != ".md"}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_member_follows_kubernetes_schemas(deployed, version):
    for object in deployed.objects:
        kubernetes_validate.validate(object, version, strict=True)


@pytest.mark.parametrize(
    "kind, path, value",
    [
        ("Deployment", ["spec", "template", "spec", "automountServiceAccountTokn"], False),
        ("Deployment", ["spec", "template", "spec", "containers", 0, "livenessProbe", "periodSeconds"], "soon"),
        ("HorizontalPodAutoscaler", ["spec", "minReplica"], 2),
        ("NetworkPolicy", ["spec", "egress", 0, "ports", 0, "prot"], "UDP"),
        ("PodDisruptionBudget", ["spec", "maxUnavailable"], 1.5),
    ],
)
def test_the_schemas_detect_mistakes(kind, path, value):
    [object] = Deployed("base/shared").all(kind)
    place = object
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(object, VERSIONS[-1], strict=True)


# Checks of the objects for the Prometheus operator.


@pytest.fixture
def monitored(tmp_path):
    """The directory of a kustomization with the component and its own runbook URL, in a copy of the folder."""
    folder = tmp_path / "kubernetes"
    shutil.copytree(FOLDER, folder)
    runbook = folder / OPERATOR / "runbook.yaml"
    runbook.write_text(runbook.read_text().replace(RUNBOOK_ADDRESS, "https://wiki.example.org/assay"))
    components = [f"../../{name}" for name in (OPERATOR, "components/grafana-dashboard")]
    mine = API | {"resources": ["../../base/shared"], "components": components}
    (folder / "overlays/mine").mkdir()
    (folder / "overlays/mine/kustomization.yaml").write_text(yaml.safe_dump(mine))
    return folder / "overlays/mine"


def test_generated_files_are_up_to_date():
    assert operator_rules.FILE.read_text() == operator_rules.text(), "run python Tests/System/deploy/operator_rules.py"
    assert operator_rules.DASHBOARD_COPY.read_bytes() == operator_rules.DASHBOARD.read_bytes(), "the same"


def test_the_prometheus_operators_alerts_link_the_configured_runbook(monitored):
    [rules] = [object for object in build(monitored) if object["kind"] == "PrometheusRule"]
    alerts = (REPOSITORY / "deploy/observability/alerts.yaml").read_text()
    assert RUNBOOK_ADDRESS in alerts
    expected = yaml.safe_load(alerts.replace(RUNBOOK_ADDRESS, "https://wiki.example.org/assay"))
    assert rules["spec"] == expected
    assert (rules["apiVersion"], rules["metadata"]["name"]) == ("monitoring.coreos.com/v1", "assay")


def test_the_prometheus_operator_selects_pods_as_prometheus_does(monitored):
    objects = build(monitored)
    [monitor] = [object for object in objects if object["kind"] == "PodMonitor"]
    [endpoint] = monitor["spec"]["podMetricsEndpoints"]
    prometheus = yaml.safe_load((REPOSITORY / "deploy/observability/prometheus-kubernetes.yaml").read_text())
    relabellings = prometheus["scrape_configs"][0]["relabel_configs"]
    # The Prometheus operator selects pods by port, drops finished ones, and adds the labels namespace and pod by itself.
    [job] = [relabelling for relabelling in relabellings if relabelling.get("target_label") == "job"]
    [kept] = [each for each in relabellings if each["source_labels"] == ["__meta_kubernetes_pod_container_port_name"]]
    camel = {"source_labels": "sourceLabels", "target_label": "targetLabel"}
    assert endpoint["relabelings"] == [{camel.get(name, name): value for name, value in job.items()}]
    assert endpoint["port"] == kept["regex"] in admin_ports(objects)
    assert monitor["spec"]["selector"] == {}
    assert "ConfigMap assay-runbook" not in {f"{object['kind']} {object['metadata']['name']}" for object in objects}


def admin_ports(objects: list[dict]) -> set[str]:
    pods = [object["spec"]["template"]["spec"] for object in objects if object["kind"] == "Deployment"]
    return {port["name"] for pod in pods for container in containers(pod) for port in container.get("ports", [])}


# Users' own Deployments with the components, and users' own settings with a base by reference.

# One Deployment has a user, init container, volume and ports. The other has no lists to add to, and no pod security.
BACKEND = """
apiVersion: apps/v1
kind: Deployment
metadata: { name: shop, labels: { team: shop, assay-sidecar: "true" } }
spec:
  selector: { matchLabels: { team: shop } }
  template:
    metadata: { labels: { team: shop } }
    spec:
      securityContext: { runAsUser: 1000, fsGroup: 2000 }
      initContainers:
        - { name: migrate, image: "example.org/shop:3", command: [migrate] }
      containers:
        - name: web
          image: example.org/shop:3
          ports: [{ name: http, containerPort: 3000 }]
          volumeMounts: [{ name: uploads, mountPath: /srv }]
      volumes: [{ name: uploads, emptyDir: {} }]
"""
WORKER = """
apiVersion: apps/v1
kind: Deployment
metadata: { name: worker%s }
spec:
  selector: { matchLabels: { team: worker } }
  template:
    metadata: { labels: { team: worker } }
    spec:
      containers: [{ name: worker, image: "example.org/worker:3" }]
"""
MY_SETTINGS = "providers:\n  - { id: apple, preset: apple, audiences: [org.example.mine] }\n"
MY_IMAGE = {"name": "registry.example.com/assay", "newName": "example.org/mirror/assay"}


@pytest.fixture
def own(tmp_path):
    """A directory next to a checkout, with the kustomization from the components' comments."""
    directory = tmp_path / "shop"
    directory.mkdir()
    shutil.copytree(FOLDER, tmp_path / "kubernetes")
    (directory / "shop.yaml").write_text(BACKEND)
    labelled = WORKER % ", labels: { assay-sidecar: \"true\" }"
    (directory / "workers.yaml").write_text(labelled + "---" + (WORKER % "-without").replace("team: worker", "team: other"))
    (directory / "assay.yaml").write_text(MY_SETTINGS)
    components = [f"../kubernetes/components/{name}" for name in ("sidecar", "sidecar-metrics")]
    mine = API | {"resources": ["shop.yaml", "workers.yaml"], "components": components, "images": [MY_IMAGE]}
    mine |= {"configMapGenerator": [{"name": "assay", "files": ["assay.yaml"]}]}
    mine |= {"generatorOptions": {"disableNameSuffixHash": True}}
    (directory / "kustomization.yaml").write_text(yaml.safe_dump(mine))
    return directory


def deployments(directory: pathlib.Path) -> dict[str, dict]:
    found = [object for object in build(directory) if object["kind"] == "Deployment"]
    return {object["metadata"]["name"]: object["spec"]["template"]["spec"] for object in found}


def test_a_component_adds_assay_to_a_users_deployment(own):
    pods = deployments(own)
    [example] = [container for container in Deployed("overlays/sidecar-metrics").containers if container["name"] == "assay"]
    for name in ("shop", "worker"):
        # Assay starts first, and is independent of the pod's own settings.
        assay = pods[name]["initContainers"][0]
        assert assay == example | {"image": f"{MY_IMAGE['newName']}:{example['image'].rsplit(':')[-1]}"}
        alone = {"automountServiceAccountToken": False, "containers": [], "initContainers": [assay]}
        assert violations(alone | {"volumes": pods[name]["volumes"]}) == []
        assert {mount["name"] for mount in assay["volumeMounts"]} <= {volume["name"] for volume in pods[name]["volumes"]}
    before = yaml.safe_load(BACKEND)["spec"]["template"]["spec"]
    assert pods["shop"]["securityContext"] == before["securityContext"]
    assert pods["shop"]["containers"] == before["containers"]
    assert pods["shop"]["initContainers"][1:] == before["initContainers"]
    assert before["volumes"][0] in pods["shop"]["volumes"]
    for object in build(own):
        kubernetes_validate.validate(object, VERSIONS[-1], strict=True)


@pytest.fixture
def released(tmp_path):
    """The directory of an unpacked archive, as a release ships it, with nothing else around it."""
    packed = subprocess.run([REPOSITORY / "scripts/kubernetes", tmp_path / "dist"], check=True, capture_output=True, text=True)
    with tarfile.open(packed.stdout.strip()) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / pathlib.Path(packed.stdout.strip()).name.removesuffix(".tar.gz")


def test_a_released_component_adds_assay_as_its_page_says(released):
    page = (released / "README.md").read_text()
    [kustomization] = re.findall(r"(?s)^```yaml\n(# kustomization.yaml\n.*?)^```$", page, re.MULTILINE)
    mine = released.parent / "mine"
    mine.mkdir()
    (mine / "kustomization.yaml").write_text(kustomization)
    (mine / "deployment.yaml").write_text(BACKEND)
    shutil.copy(released / "base/sidecar/assay.yaml", mine)
    assert deployments(mine)["shop"]["initContainers"][0]["image"].startswith("registry.example.net/assay:")
    assert is_kubectls(mine)


def test_a_release_has_every_kustomization_and_the_example_chart(released):
    for name in KUSTOMIZATIONS:
        assert build(released / name) == build(FOLDER / name)
    assert all(files(released / name) for name in COMPONENTS)
    assert (released / "helm-example/Chart.yaml").is_file() and (released / "LICENSE").is_file()
    text = (released / "README.md").read_text()
    assert [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not (released / link).exists()] == []


def test_the_released_kustomizations_have_the_same_bytes_each_time(released, tmp_path):
    again = subprocess.run([REPOSITORY / "scripts/kubernetes", tmp_path / "again"], check=True, capture_output=True, text=True)
    [archive] = (tmp_path / "dist").iterdir()
    assert pathlib.Path(again.stdout.strip()).read_bytes() == archive.read_bytes()


def test_a_component_leaves_other_deployments_alone(own):
    assert deployments(own)["worker-without"] == yaml.safe_load(WORKER % "")["spec"]["template"]["spec"]


@pytest.fixture
def referring(tmp_path):
    """Creates a directory next to a checkout, with its own settings and a kustomization that refers to a base or overlay."""
    shutil.copytree(FOLDER, tmp_path / "kubernetes")

    def refer(name: str) -> pathlib.Path:
        directory = tmp_path / "mine"
        directory.mkdir()
        (directory / "assay.yaml").write_text(MY_SETTINGS)
        mine = API | {"resources": [f"../kubernetes/{name}"], "images": [MY_IMAGE]}
        mine |= {"configMapGenerator": [{"name": "assay", "behavior": "replace", "files": ["assay.yaml"]}]}
        mine |= {"generatorOptions": {"disableNameSuffixHash": True}}
        (directory / "kustomization.yaml").write_text(yaml.safe_dump(mine))
        return directory

    return refer


@pytest.mark.parametrize("name", KUSTOMIZATIONS)
def test_a_base_can_be_used_by_reference(referring, name):
    mine = Deployed(referring(name))
    assert mine.settings_text == MY_SETTINGS
    assert mine.assay["image"].startswith(MY_IMAGE["newName"] + ":")
    theirs = Deployed(name)
    assert [(each["kind"], each["metadata"]) for each in mine.objects] == [(each["kind"], each["metadata"]) for each in theirs.objects]


def is_kubectls(directory: pathlib.Path) -> bool:
    result = subprocess.run([KUBECTL, "kustomize", directory], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr

    def by_name(objects):
        return sorted(objects, key=lambda object: (object["kind"], object["metadata"]["name"]))

    return by_name(yaml.safe_load_all(result.stdout)) == by_name(build(directory))


@pytest.mark.parametrize("name", [*KUSTOMIZATIONS, "overlays/mine"])
def test_kubectl_builds_the_same_objects(monitored, name):
    assert is_kubectls(monitored.parents[1] / name)


def test_kubectl_builds_the_same_from_a_users_deployment(own):
    assert is_kubectls(own)


@pytest.mark.parametrize("name", KUSTOMIZATIONS)
def test_kubectl_builds_the_same_from_a_reference(referring, name):
    assert is_kubectls(referring(name))


# The rules of the profile `restricted`, and a few more.


def violations(pod: dict) -> list[str]:
    """A pod's violations of the profile `restricted`, and of our own rules.

    Source: Kubernetes, Pod Security Standards, *Restricted*; the last four are ours.
    """
    found = [name for name in ("hostNetwork", "hostPID", "hostIPC", "hostUsers") if pod.get(name)]
    allowed = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "projected", "secret"}
    allowed |= {"persistentVolumeClaim"}
    found += [f"volume {volume['name']}" for volume in pod.get("volumes", []) if not set(volume) - {"name"} <= allowed]
    for container in containers(pod):
        context = pod.get("securityContext", {}) | container.get("securityContext", {})
        rules = {
            "runAsNonRoot": context.get("runAsNonRoot") is True,
            "runAsUser": context.get("runAsUser", 0) != 0,
            "seccompProfile": context.get("seccompProfile", {}).get("type") == "RuntimeDefault",
            "allowPrivilegeEscalation": context.get("allowPrivilegeEscalation") is False,
            "capabilities": context.get("capabilities") == {"drop": ["ALL"]},
            "privileged": not context.get("privileged"),
            "hostPort": not any("hostPort" in port for port in container.get("ports", [])),
            "readOnlyRootFilesystem": context.get("readOnlyRootFilesystem") is True,
            "requests": {"cpu", "memory"} <= set(container.get("resources", {}).get("requests", {})),
            "memory limit": "memory" in container.get("resources", {}).get("limits", {}),
        }
        found += [f"{container['name']}: {rule}" for rule, holds in rules.items() if not holds]
    found += ["service account token"] if pod.get("automountServiceAccountToken") is not False else []
    return found


def test_every_container_has_minimal_privileges(deployed):
    assert violations(deployed.pod["spec"]) == []


@pytest.mark.parametrize(
    "change, found",
    [
        (lambda pod: pod.pop("automountServiceAccountToken"), ["service account token"]),
        (lambda pod: pod.update(hostNetwork=True), ["hostNetwork"]),
        (lambda pod: pod["volumes"].append({"name": "host", "hostPath": {"path": "/"}}), ["volume host"]),
        (lambda pod: pod["securityContext"].pop("runAsNonRoot"), ["backend: runAsNonRoot"]),
        (lambda pod: pod["securityContext"].pop("runAsUser"), ["backend: runAsUser"]),
        (lambda pod: security(pod, "assay").update(seccompProfile={}), ["assay: seccompProfile"]),
        (lambda pod: security(pod, "assay").update(runAsUser=0), ["assay: runAsUser"]),
        (lambda pod: security(pod, "assay").update(privileged=True), ["assay: privileged"]),
        (lambda pod: security(pod, "assay").pop("allowPrivilegeEscalation"), ["assay: allowPrivilegeEscalation"]),
        (lambda pod: security(pod, "backend").pop("readOnlyRootFilesystem"), ["backend: readOnlyRootFilesystem"]),
        (lambda pod: security(pod, "backend")["capabilities"].update(add=["NET_RAW"]), ["backend: capabilities"]),
        (lambda pod: pod["initContainers"][0]["resources"].pop("limits"), ["assay: memory limit"]),
        (lambda pod: pod["initContainers"][0]["resources"].pop("requests"), ["assay: requests"]),
        (lambda pod: pod["containers"][0]["ports"][0].update(hostPort=80), ["backend: hostPort"]),
    ],
)
def test_each_violation_is_detected(change, found):
    pod = copy.deepcopy(Deployed("base/sidecar").pod["spec"])
    change(pod)
    assert violations(pod) == found


def security(pod: dict, name: str) -> dict:
    [container] = [container for container in containers(pod) if container["name"] == name]
    return container["securityContext"]


# The objects are consistent.


def test_referenced_objects_exist(deployed):
    there = {(object["kind"], object["metadata"]["name"]) for object in deployed.objects} | FROM_ELSEWHERE
    volumes = {volume["name"]: volume for volume in deployed.pod["spec"]["volumes"]}
    for volume in volumes.values():
        if "configMap" in volume:
            assert ("ConfigMap", volume["configMap"]["name"]) in there
        if "secret" in volume:
            assert ("Secret", volume["secret"]["secretName"]) in there
    mounted = [mount["name"] for container in deployed.containers for mount in container.get("volumeMounts", [])]
    assert sorted(mounted) == sorted(volumes)
    for autoscaler in deployed.all("HorizontalPodAutoscaler"):
        target = autoscaler["spec"]["scaleTargetRef"]
        assert (target["kind"], target["name"]) in there


def test_every_selector_matches_the_pods(deployed):
    labels = deployed.pod["metadata"]["labels"].items()
    selectors = [deployed.all("Deployment")[0]["spec"]["selector"]["matchLabels"]]
    selectors += [service["spec"]["selector"] for service in deployed.all("Service")]
    selectors += [budget["spec"]["selector"]["matchLabels"] for budget in deployed.all("PodDisruptionBudget")]
    selectors += [policy["spec"]["podSelector"]["matchLabels"] for policy in deployed.all("NetworkPolicy")]
    for constraint in deployed.pod["spec"].get("topologySpreadConstraints", []):
        selectors.append(constraint["labelSelector"]["matchLabels"])
    assert all(selector and selector.items() <= labels for selector in selectors)


def test_every_named_port_belongs_to_a_container(deployed):
    ports = [port["name"] for container in deployed.containers for port in container.get("ports", [])]
    assert len(ports) == len(set(ports))
    named = [port["targetPort"] for service in deployed.all("Service") for port in service["spec"]["ports"]]
    for policy in deployed.all("NetworkPolicy"):
        named += [port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]]
    for container in deployed.containers:
        own = {port["name"] for port in container.get("ports", [])}
        probes = [container[probe] for probe in PROBES & set(container)]
        assert {probe["httpGet"]["port"] for probe in probes if "httpGet" in probe} <= own
    assert set(named) <= set(ports)


def test_the_ports_match_assays_listeners(deployed):
    listening = {"http": "service", "assay-admin": "admin"}
    for port in deployed.assay.get("ports", []):
        address = deployed.settings[listening[port["name"]]]["listen"]
        assert address == f"0.0.0.0:{port['containerPort']}"
    exposed = {listening[port["name"]] for port in deployed.assay.get("ports", [])}
    for listener in {"service", "admin"} - exposed:
        assert deployed.settings[listener]["listen"].startswith("127.0.0.1:")


def test_the_admin_port_has_the_name_that_prometheus_selects(deployed):
    prometheus = (REPOSITORY / "deploy/observability/prometheus-kubernetes.yaml").read_text()
    [name] = re.findall(r"port_name\]\n\s+regex: (\S+)", prometheus)
    admin = int(deployed.settings["admin"]["listen"].rsplit(":", 1)[1])
    assert {port["name"] for port in deployed.assay.get("ports", []) if port["containerPort"] == admin} <= {name}


def test_probes_use_documented_endpoints(deployed):
    assert PROBES <= set(deployed.assay)
    paths = yaml.safe_load((REPOSITORY / "openapi.yaml").read_text(encoding="utf-8"))["paths"]
    for probe in PROBES:
        if "httpGet" in deployed.assay[probe]:
            assert "get" in paths[deployed.assay[probe]["httpGet"]["path"]]
            assert (deployed.assay[probe]["httpGet"]["path"] == "/readyz") == (probe == "readinessProbe")
            # Callers may use up the connections of the service listener.
            assert deployed.assay[probe]["httpGet"]["port"] == "assay-admin"
        else:
            command = deployed.assay[probe]["exec"]["command"]
            assert command[:2] == [IMAGE_BINARY, "healthcheck"]
            assert command[2:] == (["--ready"] if probe == "readinessProbe" else [])


def test_the_image_has_this_version(deployed):
    version = run("--version").stdout.decode().split()[1]
    assert deployed.assay["image"].endswith(f"/assay:{version}")
    assert all(re.search(r":\d", container["image"]) for container in deployed.containers)


def test_the_grace_period_exceeds_delay_and_grace(deployed):
    grace = int(deployed.settings.get("shutdown_grace", "10s").removesuffix("s"))
    delay = int(deployed.settings.get("shutdown_delay", "0s").removesuffix("s"))
    # A pod of a Service must keep serving until all nodes know that it is terminating.
    is_behind_a_service = any("assay" in service["metadata"]["name"] for service in deployed.all("Service"))
    assert (delay > 0) == is_behind_a_service
    assert deployed.pod["spec"]["terminationGracePeriodSeconds"] > delay + grace
    assert "lifecycle" not in deployed.assay


def test_the_cache_directory_is_a_writable_volume(deployed):
    directory = deployed.settings["cache_directory"]
    [mount] = [mount for mount in deployed.assay["volumeMounts"] if mount["mountPath"] == directory]
    [volume] = [volume for volume in deployed.pod["spec"]["volumes"] if volume["name"] == mount["name"]]
    assert "emptyDir" in volume and not mount.get("readOnly")


def test_a_sidecar_starts_before_the_backend_and_ends_after_it():
    sidecars = Deployed("base/sidecar").pod["spec"]["initContainers"]
    assert [container["restartPolicy"] for container in sidecars] == ["Always"]


@pytest.mark.parametrize(
    "base, overlay, changed",
    [
        ("base/sidecar", "overlays/sidecar-metrics", {"admin"}),
        ("base/shared", "overlays/shared-mutual-tls", {"service", "admin", "api_keys"}),
    ],
)
def test_an_overlay_changes_only_listeners_and_keys(base, overlay, changed):
    before, after = Deployed(base).settings, Deployed(overlay).settings
    assert {name for name in before | after if before.get(name) != after.get(name)} == changed


# Assay runs with these settings.

KEY = ec_key("op")


def token() -> str:
    claims = {"iss": "https://auth.example.com", "sub": "user-1", "aud": "my-client-id", "nonce": "n-1"}
    return jws(KEY, claims | {"iat": now(), "exp": now() + 600})


class Outside:
    """Stands in for what a cluster provides to a pod, by overriding settings."""

    def __init__(self, directory: pathlib.Path):
        self.directory = directory
        (directory / "cache").mkdir()
        self.cache = {"ASSAY_CACHE_DIRECTORY": str(directory / "cache")}
        file = directory / "keys.json"
        file.write_text(json.dumps({"keys": [KEY.jwk()]}))
        # Replaces the network, for every provider.
        self.keys = {f"ASSAY_PROVIDERS_{provider}_JWKS_FILE": str(file) for provider in ("APPLE", "EXAMPLE")}
        # Replaces the Secret.
        authority = Authority(directory)
        self.authority, server = str(authority.certificate_file), str(authority.server_file(ADDRESS))
        self.secret = {
            "ASSAY_SERVICE_TLS_CERTIFICATE_FILE": server,
            "ASSAY_SERVICE_TLS_KEY_FILE": server,
            "ASSAY_SERVICE_TLS_CLIENT_CA_FILE": self.authority,
        }
        self.backend = str(authority.server_file("backend", usage=ExtendedKeyUsageOID.CLIENT_AUTH))

    def variables(self, deployed: Deployed) -> dict[str, str]:
        return self.cache | (self.secret if "tls" in deployed.settings["service"] else {})

    def pod(self, deployed: Deployed, settings: str | None = None) -> Pod:
        variables = self.variables(deployed) | self.keys
        return Pod(deployed.assay, settings or deployed.settings_text, self.directory, **variables)

    def pod_without_keys(self, deployed: Deployed) -> Pod:
        return Pod(deployed.assay, deployed.settings_text, self.directory, **self.variables(deployed))


@pytest.fixture
def outside(tmp_path):
    return Outside(tmp_path)


def test_the_settings_are_valid(deployed, outside, tmp_path):
    file = tmp_path / "assay.yaml"
    file.write_text(deployed.settings_text)
    checked = run("config", "check", "--config", str(file), variables=outside.variables(deployed))
    assert checked.returncode == 0, checked.stderr


def test_the_commented_sign_ins_are_valid(deployed, outside, tmp_path):
    written = choices(deployed.settings_text)
    assert list(written) == ["sign_ins"]
    mounts = [mount["mountPath"] for mount in deployed.assay["volumeMounts"]]
    assert all(any(path.startswith(mount + "/") for mount in mounts) for path in paths(written["sign_ins"]))
    checked = check(written["sign_ins"], tmp_path, **outside.variables(deployed))
    assert checked.returncode == 0, checked.stderr


def test_probes_succeed(deployed, outside):
    with outside.pod(deployed) as pod:
        assert pod.probe("startupProbe") and pod.probe("livenessProbe")
        pod.wait_until(lambda: pod.probe("readinessProbe"))


def test_without_keys_the_pod_is_alive_but_not_ready(deployed, outside):
    with outside.pod_without_keys(deployed) as pod:
        assert pod.probe("startupProbe") and pod.probe("livenessProbe")
        assert not pod.probe("readinessProbe")


@pytest.mark.parametrize("name", ["base/sidecar", "overlays/sidecar-metrics"])
def test_a_sidecar_serves_only_its_own_pod(name, outside):
    deployed = Deployed(name)
    [backend] = deployed.pod["spec"]["containers"]
    [address] = [entry["value"] for entry in backend["env"] if entry["name"] == "ASSAY_URL"]
    with outside.pod(deployed) as pod:
        pod.wait_until(lambda: pod.probe("readinessProbe"))
        assert pod.verify(address, token()) == (200, "user-1")
        assert pod.verify(f"http://{ADDRESS}:8080", token()) == (0, "")


def test_only_a_sidecars_metrics_are_open_beyond_its_pod(outside):
    with outside.pod(Deployed("overlays/sidecar-metrics")) as pod:
        assert pod.ask(f"http://{ADDRESS}:9090/metrics")[0] == 200
        assert pod.ask(f"http://{ADDRESS}:9090/v1/providers")[0] == 401
        assert pod.ask(f"http://{ADDRESS}:9090/v1/providers/apple/refresh", "--request", "POST")[0] == 401


def test_a_shared_assay_rejects_all_callers_before_a_key_is_set(outside):
    deployed = Deployed("base/shared")
    address = f"http://{ADDRESS}:8080"
    bearer = ["--header", "Authorization: Bearer a-key"]
    with outside.pod(deployed) as pod:
        pod.wait_until(lambda: pod.probe("readinessProbe"))
        assert pod.verify(address, token()) == (401, "caller_unauthenticated")
        assert pod.verify(address, token(), *bearer) == (401, "caller_unauthenticated")
    with_key = deployed.settings_text.replace(NOBODYS_DIGEST, hashlib.sha256(b"a-key").hexdigest())
    with outside.pod(deployed, with_key) as pod:
        pod.wait_until(lambda: pod.probe("readinessProbe"))
        assert pod.verify(address, token(), *bearer) == (200, "user-1")
        bearer[1] += "y"
        assert pod.verify(address, token(), *bearer) == (401, "caller_unauthenticated")


def test_a_shared_assay_with_mutual_tls_requires_a_certificate(outside):
    trusting = ["--cacert", outside.authority]
    with outside.pod(Deployed("overlays/shared-mutual-tls")) as pod:
        pod.wait_until(lambda: pod.probe("readinessProbe"))
        assert pod.verify(f"https://{ADDRESS}:8080", token(), *trusting, "--cert", outside.backend) == (200, "user-1")
        assert pod.verify(f"https://{ADDRESS}:8080", token(), *trusting) == (0, "")
        assert pod.verify(f"http://{ADDRESS}:8080", token()) == (0, "")
