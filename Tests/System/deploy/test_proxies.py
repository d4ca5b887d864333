"""Which requests the proxies of `deploy/proxies` retry on another instance, and which they send only once."""

import contextlib
import http.client
import urllib.parse

import pytest

from harness.stranger import Stranger, answer
from deploy.proxies import Proxy
from harness.waiting import free_port, poll

# Each worker of nginx decides on its own which instances are up.
ONE_WORKER = {"nginx.conf": {"worker_processes auto": "worker_processes 1"}}
ONCE, VERIFY = ("/v1/sign-ins/finish", "/v1/grants/refresh", "/v1/grants/revoke"), "/v1/verify"


@pytest.mark.parametrize("octets", [answer(503, {}, Retry_After="1"), b""], ids=["503", "no answer"])
@pytest.mark.parametrize("file", ["haproxy.cfg", "nginx.conf"])
def test_requests_that_use_something_up_are_not_retried(tmp_path, file, octets):
    def answers(path: str) -> bytes:
        return octets if path in (*ONCE, VERIFY) else answer(200, {})

    with Stranger(answers) as one, Stranger(answers) as other:
        port, ports = free_port(), [urllib.parse.urlsplit(each.url).port for each in (one, other)]
        with Proxy(file, port, ports, tmp_path, ONE_WORKER.get(file)) as proxy:
            poll(lambda: is_up(proxy))

            def asked(path: str) -> int:
                """How many requests the instances receive for one request of the client."""
                # nginx takes a failing instance out of rotation for a second, in each upstream separately.
                poll(lambda: {post(proxy, good) for _ in range(4) for good in ("/", "/v1/grants/")} == {200})
                before = sum(each.paths.get(path, 0) for each in (one, other))
                assert post(proxy, path) in (502, 503)
                return sum(each.paths.get(path, 0) for each in (one, other)) - before

            for path in ONCE:
                assert asked(path) == 1, path
            if octets:
                assert asked(VERIFY) == {"nginx.conf": 2, "haproxy.cfg": 3}[file]


def post(proxy: Proxy, path: str) -> int:
    """Returns the status. Does not check the contract, because the upstreams are not Assay."""
    with contextlib.closing(http.client.HTTPConnection(proxy.address, timeout=10)) as connection:
        connection.request("POST", path, b"{}", {"Content-Type": "application/json"})
        return connection.getresponse().status


def is_up(proxy: Proxy) -> bool:
    try:
        return post(proxy, "/") == 200
    except OSError:
        return False
