"""The memory limits in `deploy/`: each is enough for everything that clients can make the service hold at once."""

import contextlib
import json
import re
import time

import pytest
import yaml

from deploy.hoarding import ASKED, HALF, SILENT, UNREAD, Batches, ControlGroup, Hoard, binary_within
from deploy.kustomize import build
from harness import service as harness_service
from harness.certificates import Authority
from harness.issuer import KeyServer
from harness.metrics import Metrics
from harness.service import REPOSITORY, Service, provider
from harness.tokens import ec_key
from harness.wire import gauges, many_descriptors

DEPLOY = REPOSITORY / "deploy"
MIB = 1 << 20
# For systemd and container engines, K, M and G are powers of 1024.
UNITS = {"": 1, "k": 1 << 10, "Ki": 1 << 10, "m": MIB, "M": MIB, "Mi": MIB}
# How many seconds all memory is held at once. Incomplete requests time out after ten, and are sent again.
SECONDS = 11
# The timeout for thousands of TLS handshakes, with both ends on two busy processors.
FILLING = 150
# The maximum size of a batch's body.
ITEMS = 250


def bytes_of(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(\w*)", str(text)).groups()
    return int(number) * UNITS[unit]


def kubernetes(name: str) -> tuple[int, dict]:
    """The limit of Assay's container, and its settings."""
    objects = build(DEPLOY / "kubernetes" / name)
    [text] = [object["data"]["assay.yaml"] for object in objects if "assay.yaml" in object.get("data", {})]
    [pod] = [object["spec"]["template"]["spec"] for object in objects if object["kind"] == "Deployment"]
    containers = pod.get("initContainers", []) + pod["containers"]
    [container] = [container for container in containers if container["name"] == "assay"]
    return bytes_of(container["resources"]["limits"]["memory"]), yaml.safe_load(text)


def manifests() -> dict[str, tuple[int, dict]]:
    """The memory limits of all deployments in `deploy/`, with their settings."""
    settings = yaml.safe_load((DEPLOY / "assay.yaml").read_text(encoding="utf-8"))
    run = re.search(r"--memory (\w+)", (DEPLOY / "container/README.md").read_text(encoding="utf-8"))[1]
    unit = re.search(r"(?m)^MemoryMax=(\w+)$", (DEPLOY / "systemd/assay.service").read_text(encoding="utf-8"))[1]
    compose = yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text(encoding="utf-8"))
    found = {
        "container": (bytes_of(run), settings),
        "compose": (
            bytes_of(compose["services"]["assay"]["mem_limit"]),
            yaml.safe_load((DEPLOY / "compose/assay.yaml").read_text(encoding="utf-8")),
        ),
        "systemd": (bytes_of(unit), settings),
    }
    for file in sorted((DEPLOY / "kubernetes").rglob("kustomization.yaml")):
        name = str(file.parent.relative_to(DEPLOY / "kubernetes"))
        # Components have no Deployment.
        if not name.startswith("components/"):
            found[name] = kubernetes(name)
    return found


def cases() -> dict[str, tuple[int, dict, bool]]:
    """Each combination of limits, with and without TLS, named after the deployments that use it."""
    found: dict[tuple, list[str]] = {}
    for name, (limit, settings) in manifests().items():
        limits = settings.get("limits", {})
        key = (limit, tuple(sorted(limits.items())), "tls" in settings.get("service", {}))
        found.setdefault(key, []).append(name)
    return {
        ", ".join(names): (limit, dict(limits), is_encrypted) for (limit, limits, is_encrypted), names in found.items()
    }


CASES = cases()


@pytest.fixture(scope="module")
def server():
    with KeyServer() as server:
        yield server


def test_each_manifest_has_a_limit():
    names = set(manifests())
    assert {"container", "compose", "systemd", "base/sidecar", "base/shared", "overlays/shared-mutual-tls"} <= names


def test_large_bodies_are_read_without_delay_under_the_smallest_limit(server, tmp_path):
    # Receive buffers are small here. Shrinking one after the handshake would delay every 32 KB by 200 ms on loopback.
    issuer = server.issuer("good-long", ec_key("good"))
    item = {"id_token": issuer.token(), "code": "c" * 15_000}
    request = post("/v1/verify/batch", json.dumps({"items": [item] * ITEMS}).encode())
    with contextlib.ExitStack() as stack:
        stack.enter_context(many_descriptors())
        group = ControlGroup(min(limit for limit, _, _ in CASES.values()))
        stack.callback(group.close)
        program = stack.enter_context(binary_within(group, harness_service.BINARY))
        service = stack.enter_context(Service(provider(issuer, "good"), binary=program))
        service.wait_until_ready()
        for _ in range(5):
            connection = stack.enter_context(service.api.connect())
            connection.send_tolerantly(request)
            assert connection.response("POST", "/v1/verify/batch").status == 200


@pytest.mark.parametrize("name", CASES)
def test_the_limit_suffices_while_all_clients_hoard(name, server, tmp_path):
    limit, limits, is_encrypted = CASES[name]
    number = list(CASES).index(name)
    # The keys of `hanging` never arrive.
    good, hanging = server.issuer(f"good-{number}", ec_key("good")), server.issuer(f"hanging-{number}", ec_key("a"))
    hanging.jwks.hold()
    with contextlib.ExitStack() as stack:
        stack.enter_context(many_descriptors())
        settings, context = {"limits": limits}, None
        if is_encrypted:
            # No client certificates are required, so that every client completes the handshake.
            authority = Authority(tmp_path)
            file = str(authority.server_file())
            settings["service"] = {"listen": "127.0.0.1:0", "tls": {"certificate_file": file, "key_file": file}}
            context = authority.client_context()
        group = ControlGroup(limit)
        stack.callback(group.close)
        program = stack.enter_context(binary_within(group, harness_service.BINARY))
        providers = provider(good, "good"), provider(hanging, "hanging", optional=True)
        stack.callback(hanging.jwks.release)
        service = stack.enter_context(Service(*providers, context=context, log={"requests": False}, binary=program, **settings))
        service.wait_until_ready()
        said = service.entries(message="limits")[0]
        assert said["memory_bytes"] == limit
        hoard(service, group, good, hanging, said, context, stack)


def hoard(service, group, good, hanging, said, context, stack) -> None:
    # The rest is for the well-behaved clients and the batches.
    count = said["max_connections"] - 60
    address = service.api.address
    hoards = [
        Hoard(address, count * 30 // 100, ASKED, context),
        Hoard(address, count * 20 // 100, SILENT, context),
        Hoard(address, count * 25 // 100, HALF, context),
        Hoard(address, count * 25 // 100, UNREAD, context),
        # Responses of the admin listener are not read, either.
        Hoard(service.admin.address, 40, UNREAD.replace(b"/openapi.yaml", b"/metrics")),
    ]
    for hoarding in hoards:
        stack.callback(hoarding.close)
    # One batch must wait for keys before other bodies fill the buffers.
    first = Batches(service.api, hanging.token(), 1, ITEMS)
    stack.callback(first.close)
    # On busy processors, the service may shed the batch, which is then sent again.
    service.wait_until(lambda: gauges(service)[1] >= ITEMS, timeout=60)
    batches = Batches(service.api, hanging.token(), 24, ITEMS)
    stack.callback(batches.close)
    caller = stack.enter_context(service.api.connect())
    operator = stack.enter_context(service.admin.connect())
    peak, refreshes, slowest = (0, {}), 0, 0.0
    complete_by = time.monotonic() + FILLING
    end = None
    while end is None or time.monotonic() < end:
        for hoarding in hoards:
            hoarding.fill()
            peak = note(peak, group)
        if end is None and (all(hoarding.was_full for hoarding in hoards) or time.monotonic() > complete_by):
            end = time.monotonic() + SECONDS
        begun = time.monotonic()
        assert verify(caller, good.token()) == 200
        slowest = max(slowest, time.monotonic() - begun)
        operator.send(post("/v1/providers/good/refresh", b""))
        refreshed = operator.response("POST", "/v1/providers/good/refresh")
        assert refreshed.status == 200, refreshed
        refreshes += 1
        peak = note(peak, group)
        assert service.process.poll() is None
    assert all(hoarding.was_full for hoarding in hoards)
    counts = Metrics(service.admin.get("/metrics").text)
    print(
        f"{group.limit // MIB} MiB: {said}; most taken {peak[0] / MIB:.1f} MiB, {peak[1]}; {[hoarding.open for hoarding in hoards]} open; "
        f"{refreshes} refreshes; slowest answer {slowest:.2f} s; batches {first.statuses | batches.statuses}; "
        f"held {counts.value('assay_buffered_bytes'):.0f}, closed or refused "
        f"{counts.value('assay_overloaded_total', limit='max_buffered'):.0f}"
    )
    assert peak[0] <= group.limit, peak
    assert group.kills() == 0
    assert counts.value("assay_overloaded_total", limit="max_buffered") > 0


def note(peak: tuple, group: ControlGroup) -> tuple:
    """The new peak of memory, with its parts."""
    taken = group.taken()
    return (taken, group.parts()) if taken > peak[0] else peak


def post(path: str, body: bytes) -> bytes:
    return harness_service.client.request_bytes("POST", path, body)


def verify(connection, token: str) -> int:
    connection.send(post("/v1/verify", b'{"id_token":"' + token.encode() + b'"}'))
    return connection.response("POST", "/v1/verify").status
