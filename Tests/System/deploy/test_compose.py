"""`deploy/compose`: the files are valid, the example backend signs users in, and everything except Grafana runs."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
import yaml

from clients.backends import NO_LENGTHS, posted
from deploy.containers import Engine
from deploy.leftovers import remove_network
from harness.commands import Dev
from harness.pages import shell_blocks
from harness.service import REPOSITORY, environment, run
from harness.waiting import free_port, poll

FOLDER = REPOSITORY / "deploy/compose"
SERVICES = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]
DEV_FILES = ("--file", "compose.yaml", "--file", "compose.dev.yaml")
PIPES = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def post(url: str, body, cookie: str | None = None):
    """Status, headers and JSON of the response."""
    octets = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, octets, {"Cookie": cookie} if cookie else {})
    try:
        with urllib.request.urlopen(request, timeout=15) as response:
            return response.status, response.headers, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


class Backend:
    """The example backend as a process."""

    def __init__(self, assay: str):
        variables = {"ASSAY_URL": f"http://{assay}", "LISTEN": "127.0.0.1:0"}
        # The path where the compose file mounts the client, and a proxy that would see tokens if the backend used it.
        folder = next(volume.split(":")[0] for volume in SERVICES["backend"]["volumes"] if ":/client:" in volume)
        variables |= {"PYTHONPATH": str(FOLDER / folder), "http_proxy": "http://127.0.0.1:9"}
        self.process = subprocess.Popen(
            [sys.executable, str(FOLDER / "backend.py")], env=environment() | variables, **PIPES
        )
        self.url = "http://" + self.process.stdout.readline().decode().split()[-1]

    def begin(self) -> tuple[str, str]:
        """Begins a sign-in; returns its cookie and nonce."""
        status, headers, body = post(f"{self.url}/sign-in", {"provider": "apple"})
        assert status == 200
        assert "HttpOnly" in headers["Set-Cookie"]
        return headers["Set-Cookie"].split(";")[0], body["nonce"]

    def finish(self, cookie: str | None, body) -> tuple[int, dict]:
        status, _, answer = post(f"{self.url}/sign-in/finish", body, cookie)
        return status, answer

    def log(self) -> str:
        """Stops the backend; returns its log."""
        self.process.terminate()
        return self.process.communicate(timeout=15)[1].decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def dev():
    with Dev() as process:
        yield process


@pytest.fixture(scope="module")
def backend(dev):
    with Backend(dev.api.address) as backend:
        yield backend


def sent(dev, nonce: str, **claims) -> dict:
    return {"id_token": dev.token("apple", nonce=nonce, claims=claims)["id_token"]}


def test_issuer_and_subject_identify_a_returning_user(backend, dev):
    numbers = []
    for subject in ("alice", "bob", "alice"):
        cookie, nonce = backend.begin()
        status, answer = backend.finish(cookie, sent(dev, nonce, sub=subject))
        assert (status, answer["identity"]["subject"]) == (200, subject)
        numbers.append(answer["user"])
    assert numbers[0] == numbers[2] != numbers[1]


def test_a_token_of_another_sign_in_is_refused(backend, dev):
    cookie, _ = backend.begin()
    _, other = backend.begin()
    assert backend.finish(cookie, sent(dev, other)) == (401, {"code": "nonce_mismatch"})


def test_a_sign_in_can_be_finished_once(backend, dev):
    cookie, nonce = backend.begin()
    body = sent(dev, nonce)
    assert backend.finish(cookie, body)[0] == 200
    assert backend.finish(cookie, body) == (401, {"code": "sign_in_replayed"})
    # A failed attempt uses nothing up.
    cookie, nonce = backend.begin()
    assert backend.finish(cookie, sent(dev, "another")) == (401, {"code": "nonce_mismatch"})
    assert backend.finish(cookie, sent(dev, nonce))[0] == 200


@pytest.mark.parametrize("cookie", [None, "__Host-sign-in=made-up", "nonsense", "\xa0__Host-sign-in=made-up", "[odd]=1"])
def test_an_unknown_sign_in_is_refused(backend, dev, cookie):
    code = "sign_in_invalid" if cookie == "__Host-sign-in=made-up" else "sign_in_unknown"
    assert backend.finish(cookie, sent(dev, "n")) == (401, {"code": code})


def test_a_begin_needs_a_configured_provider(backend):
    for body, code in [({"provider": "unheard-of"}, "provider_unknown"), ({}, "request_invalid")]:
        status, _, answer = post(f"{backend.url}/sign-in", body)
        assert (status, answer) == (400, {"code": code})


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b"{}", b'{"provider": "apple"}', b"\xff"])
def test_a_malformed_finish_is_refused(backend, body):
    cookie, _ = backend.begin()
    assert backend.finish(cookie, body) == (400, {"code": "request_invalid"})


def test_an_expired_token_is_refused_with_its_code(backend, dev):
    cookie, nonce = backend.begin()
    assert backend.finish(cookie, sent(dev, nonce, exp=1)) == (401, {"code": "token_expired"})


def test_a_body_that_is_too_large_is_refused(backend):
    cookie, _ = backend.begin()
    assert backend.finish(cookie, b" " * (64 * 1024 + 1)) == (413, {"code": "request_too_large"})


@pytest.mark.parametrize("length", NO_LENGTHS, ids=lambda length: repr(length)[:20])
def test_an_invalid_content_length_is_refused(backend, length):
    address = backend.url.removeprefix("http://")
    assert posted(address, "/sign-in", f"Content-Length: {length}") == 400


def test_other_paths_are_not_found(backend):
    assert post(f"{backend.url}/nothing", {})[0] == 404


def test_while_assay_is_down_sign_ins_are_unavailable(dev):
    with Backend(f"127.0.0.1:{free_port()}") as backend:
        status, _, answer = post(f"{backend.url}/sign-in", {"provider": "apple"})
        assert (status, answer) == (503, {"code": "unavailable"})
        assert backend.finish("__Host-sign-in=begun-before", sent(dev, "n")) == (503, {"code": "unavailable"})


def test_the_backend_logs_no_token_and_no_nonce(dev):
    with Backend(dev.api.address) as backend:
        cookie, nonce = backend.begin()
        body = sent(dev, nonce)
        assert backend.finish(cookie, body)[0] == 200
        log = backend.log()
    assert "POST /sign-in/finish" in log
    for secret in (nonce, body["id_token"], cookie.split("=")[1]):
        assert secret not in log


@pytest.mark.parametrize("file", ["compose.yaml", "compose.dev.yaml", "image.yaml"])
def test_the_files_follow_the_compose_specification(file):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(FOLDER / file)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    "files",
    [DEV_FILES[:2], DEV_FILES, ("--file", "../gateways/compose.yaml")],
    ids=["compose.yaml", "with compose.dev.yaml", "the gateway's"],
)
def test_docker_compose_accepts_the_files(files):
    command = ["docker-compose", *files, "config", "--quiet"]
    result = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_settings_are_valid():
    result = run("config", "check", "--config", str(FOLDER / "assay.yaml"))
    assert result.returncode == 0, result


def test_mounted_files_exist():
    for name, service in SERVICES.items():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert not source.startswith(".") or (FOLDER / source).exists(), (name, source)


def test_the_web_app_is_hardened_like_the_backend():
    service = yaml.safe_load((FOLDER / "compose.dev.yaml").read_text(encoding="utf-8"))["services"]["sample"]
    assert {name: value for name, value in SERVICES["backend"].items() if name not in ("command", "volumes", "environment")} == {
        name: value for name, value in service.items() if name not in ("command", "volumes", "environment")
    }


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_hardened_and_published_only_on_loopback(name):
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_grafana_is_configured_with_prometheus_and_the_dashboard():
    (source,) = yaml.safe_load((FOLDER / "grafana/datasource.yaml").read_text(encoding="utf-8"))["datasources"]
    listens = next(part for part in SERVICES["prometheus"]["command"] if "--web.listen-address" in part)
    assert source["type"] == "prometheus"
    assert source["url"] == "http://pod:" + listens.rsplit(":", 1)[1]
    (boards,) = yaml.safe_load((FOLDER / "grafana/dashboards.yaml").read_text(encoding="utf-8"))["providers"]
    places = [volume.split(":")[1] for volume in SERVICES["grafana"]["volumes"]]
    assert [str(pathlib.Path(place).parent) for place in places if place.endswith(".json")] == [
        boards["options"]["path"]
    ]


class Stack:
    """The services of `docker compose up` except Grafana, with docker-compose and podman."""

    def __init__(self, engine: Engine, image: str):
        remove_network("tested_default")
        self.engine = engine
        self.ports = {name: free_port() for name in ("BACKEND_PORT", "PROMETHEUS_PORT")}
        socket = engine.directory / "podman.sock"
        self.environment = engine.environment | {name: str(port) for name, port in self.ports.items()}
        self.environment |= {"DOCKER_HOST": f"unix://{socket}", "COMPOSE_PROJECT_NAME": "tested", "ASSAY_IMAGE": image}
        self._stand_in()
        # It ends with this process, even if that is killed.
        command = ["setpriv", "--pdeathsig=KILL", "podman", "system", "service", "--time=0", f"unix://{socket}"]
        self.podman = subprocess.Popen(command, env=engine.environment, **PIPES)
        poll(socket.exists)

    def _stand_in(self) -> None:
        """Builds stand-ins for images that are only available from a registry."""
        library = f"/usr/lib/{pathlib.Path(os.path.realpath('/usr/bin/python3')).name}"
        self.engine.image_of_programs(f"docker.io/library/{SERVICES['backend']['image']}", "/usr/bin/python3", library)
        more = 'ENTRYPOINT ["/usr/bin/prometheus"]\n'
        self.engine.image_of_programs(f"docker.io/{SERVICES['prometheus']['image']}", "/usr/bin/prometheus", more=more)

        more = 'ENTRYPOINT ["/usr/bin/catatonit", "-P"]\n'
        self.engine.image_of_programs(SERVICES["pod"]["image"], "/usr/bin/catatonit", more=more)

    def up(self) -> None:
        command = ["docker-compose", *DEV_FILES, "up", "--detach", "--no-build", "backend", "prometheus"]
        process = subprocess.Popen(command, cwd=FOLDER, env=self.environment, **PIPES)

        def ended():
            # Podman relies on systemd to schedule health checks, and systemd may be absent.
            self.engine.run("podman", "healthcheck", "run", "tested_assay_1")
            return process.poll() is not None

        try:
            poll(ended, timeout=120)
        finally:
            process.kill()
            output, errors = process.communicate(timeout=15)
        assert process.returncode == 0, (output + errors).decode()

    def close(self) -> None:
        self.engine.clear()
        self.podman.terminate()
        self.podman.communicate(timeout=15)


@pytest.fixture(scope="module")
def stack(engine, image):
    stack = Stack(engine, image)
    try:
        stack.up()
        yield stack
    finally:
        stack.close()


def test_the_app_signs_in_at_the_backend(stack):
    """With the files and the command that the page names."""
    [script] = [each for each in shell_blocks("docs/getting-started.md") if "docker compose" in each]
    _, up, exec = script.splitlines()
    assert up == f"docker compose {' '.join(DEV_FILES).replace('--file', '-f')} up --build --detach"
    app = exec.removeprefix("docker compose exec backend ").split()

    def signed_in():
        # The program may not listen yet.
        result = stack.engine.run("podman", "exec", "tested_backend_1", *app)
        return result if "Connection refused" not in result.stderr else None

    answer = json.loads(poll(signed_in).stdout)
    assert answer["user"] == 1
    assert answer["identity"]["provider"] == "apple"
    # From outside, through the backend's published port.
    assert post(f"http://127.0.0.1:{stack.ports['BACKEND_PORT']}/sign-in", {"provider": "apple"})[0] == 200


def test_sign_ins_work_again_after_assay_is_killed(stack):
    killed = stack.engine.inspect("inspect", "tested_assay_1")["State"]["Pid"]
    # The engine would record a deliberate stop, and not restart the container.
    os.kill(killed, signal.SIGKILL)
    poll(lambda: stack.engine.inspect("inspect", "tested_assay_1")["State"]["Pid"] not in (0, killed))
    sign_in = ("podman", "exec", "tested_backend_1", "python3", "/app/app.py")
    assert poll(lambda: stack.engine.run(*sign_in).returncode == 0)


def prometheus(stack, path: str):
    url = f"http://127.0.0.1:{stack.ports['PROMETHEUS_PORT']}/api/v1/{path}"
    with urllib.request.urlopen(url, timeout=15) as response:
        return json.load(response)["data"]


def test_prometheus_scrapes_assay_and_has_the_alerts(stack):
    def is_up():
        # The previous scrape may have coincided with the restart.
        with contextlib.suppress(OSError):
            samples = prometheus(stack, "query?query=up%7Bjob%3D%22assay%22%7D")["result"]
            return [sample["value"][1] for sample in samples] == ["1"]

    assert poll(is_up, timeout=60)
    names = {rule["name"] for group in prometheus(stack, "rules")["groups"] for rule in group["rules"]}
    rules = (REPOSITORY / "deploy/observability/alerts.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"alert: (\w+)", rules)) <= names


def test_grafana_can_reach_prometheus(stack):
    (source,) = yaml.safe_load((FOLDER / "grafana/datasource.yaml").read_text(encoding="utf-8"))["datasources"]
    # The network's name server may learn of a new container a moment after it has started. Like Grafana, ask again.
    ask = f"""
import time, urllib.error, urllib.request
end = time.monotonic() + 60
while time.monotonic() < end:
    try:
        print(urllib.request.urlopen('{source["url"]}/-/ready', timeout=15).status)
        break
    except urllib.error.URLError as error:
        assert "Name or service not known" in str(error), error
        time.sleep(0.1)
"""
    image = SERVICES["backend"]["image"]
    said = stack.engine.output("podman", "run", "--rm", "--network=tested_default", image, "python3", "-c", ask)
    assert said == "200"


def test_assay_is_not_reachable_from_outside(stack):
    networks = stack.engine.inspect("inspect", "tested_pod_1")["NetworkSettings"]["Networks"]
    (address,) = [network["IPAddress"] for network in networks.values()]
    with urllib.request.urlopen(f"http://{address}:9091/-/ready", timeout=15) as response:
        assert response.status == 200
    # The development providers' listener is reachable for the browser, but answers only to names of this machine.
    with pytest.raises(urllib.error.HTTPError, match="421"):
        urllib.request.urlopen(f"http://{address}:9400/", timeout=15)
    for port in (8080, 9090):
        with pytest.raises(urllib.error.URLError, match="refused"):
            urllib.request.urlopen(f"http://{address}:{port}/livez", timeout=15)
