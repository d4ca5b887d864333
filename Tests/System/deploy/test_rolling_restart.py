"""Under load, no request is lost while the instances behind a proxy are restarted one after the other."""

import json
import threading

import pytest

from deploy.proxies import Proxy
from harness.client import Client, ConnectionClosed, request_bytes
from harness.issuer import KeyServer
from harness.service import Service, provider
from harness.surge import Surge
from harness.tokens import ec_key
from harness.waiting import free_ports, poll

RATE = 400


@pytest.mark.parametrize(
    "file, delay, changed",
    [
        ("haproxy.cfg", "0s", {}),
        ("nginx.conf", "0s", {}),
        # Without retries, the delay must be long enough for the health checks to notice.
        (
            "haproxy.cfg",
            "2s",
            {"retries 2": "retries 0", "option redispatch 1": "no option redispatch", "retry-on conn": "# retry-on conn"},
        ),
    ],
    ids=["haproxy", "nginx", "haproxy that never asks twice"],
)
def test_a_rolling_restart_loses_no_request(tmp_path, file, delay, changed):
    port, *ports = free_ports(3)
    with KeyServer() as server:
        issuer = server.issuer("op", ec_key("key"))

        def start(port: int) -> Service:
            listen = {"service": {"listen": f"127.0.0.1:{port}"}, "shutdown_delay": delay, "log": {"requests": False}}
            return Service(provider(issuer), **listen).wait_until_ready()

        instances = [start(port) for port in ports]
        try:
            with Proxy(file, port, ports, tmp_path, changed) as proxy:
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
                            # The proxy must notice that this instance is back before the other one stops.
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
    """Waits for this many more responses."""
    goal = surge.statuses.total() + count
    poll(lambda: surge.statuses.total() >= goal)
