"""No request is lost while the instances behind a proxy are restarted one after the other, under load."""

import json
import shutil
import subprocess
import threading

import pytest

from harness.client import Client, ConnectionClosed, request_bytes
from harness.issuer import KeyServer
from harness.service import REPOSITORY, Service, provider
from harness.surge import Surge
from harness.tokens import ec_key
from harness.waiting import free_ports, poll

RATE = 400


class Proxy:
    """A proxy with its file of deploy/proxies, at ports of the test's."""

    commands = {
        "haproxy.cfg": lambda file, directory: ["haproxy", "-db", "-f", file],
        "nginx.conf": lambda file, directory: [
            "nginx", "-p", directory, "-c", file, "-e", "stderr",
            "-g", f"daemon off; pid {directory}/pid; error_log stderr;",
        ],
    }  # fmt: skip

    def __init__(self, name: str, text: str, port: int, directory):
        file = directory / name
        file.write_text(text)
        self.address = f"127.0.0.1:{port}"
        command = self.commands[name](str(file), str(directory))
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)


@pytest.mark.parametrize(
    "file, delay, changed",
    [
        ("haproxy.cfg", "0s", {}),
        ("nginx.conf", "0s", {}),
        # Nothing is asked twice: the delay alone must be enough for the checks to notice.
        (
            "haproxy.cfg",
            "2s",
            {"retries 2": "retries 0", "option redispatch 1": "no option redispatch", "retry-on conn": "# retry-on conn"},
        ),
    ],
    ids=["haproxy", "nginx", "haproxy that never asks twice"],
)
def test_no_request_is_lost_through_a_rolling_restart(tmp_path, file, delay, changed):
    port, *ports = free_ports(3)
    text = (REPOSITORY / "deploy/proxies" / file).read_text()
    shipped = {"127.0.0.1:8000": port, "127.0.0.1:8081": ports[0], "127.0.0.1:8082": ports[1]}
    changed = changed | {address: f"127.0.0.1:{port}" for address, port in shipped.items()}
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    # nginx keeps what it buffers in directories of its own.
    directories = {"nginx.conf": ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]}.get(file, [])
    if directories:
        paths = "".join(f"    {name}_temp_path {tmp_path}/{name};\n" for name in directories)
        text = text.replace("http {\n", f"http {{\n    access_log off;\n{paths}")
    assert shutil.which(file.split(".")[0]), "scripts/bootstrap deploy installs it"

    with KeyServer() as server:
        issuer = server.issuer("op", ec_key("key"))

        def start(port: int) -> Service:
            listen = {"service": {"listen": f"127.0.0.1:{port}"}, "shutdown_delay": delay, "log": {"requests": False}}
            return Service(provider(issuer), **listen).wait_until_ready()

        instances = [start(port) for port in ports]
        try:
            with Proxy(file, text, port, tmp_path) as proxy:
                instances[0].wait_until(lambda: answers(proxy))
                request = request_bytes("POST", "/v1/verify", json.dumps({"id_token": issuer.token()}).encode())
                surge = Surge(proxy.address, request, patience=10)
                enough = threading.Event()
                load = threading.Thread(target=surge.run, args=(600, RATE), kwargs={"until": enough})
                load.start()
                try:
                    for _ in range(2):
                        for number, port in enumerate(ports):
                            await_answers(surge, RATE // 4)
                            instances[number].stop()
                            await_answers(surge, RATE // 4)
                            instances[number] = start(port)
                            # The other one may go as soon as the proxy knows that this one is back.
                            await_answers(surge, RATE * 2)
                finally:
                    enough.set()
                    load.join()
                assert surge.lost == surge.given_up == 0
                assert set(surge.statuses) == {200}
        finally:
            for instance in instances:
                instance.kill()


def answers(proxy: Proxy) -> bool:
    try:
        client = Client(proxy.address)
        return client.get("/readyz").status == 200
    except (OSError, ConnectionClosed):
        return False


def await_answers(surge: Surge, count: int) -> None:
    """Waits for so many answers from now on."""
    goal = surge.statuses.total() + count
    poll(lambda: surge.statuses.total() >= goal)
