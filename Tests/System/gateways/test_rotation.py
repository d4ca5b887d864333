"""The provider's keys change while requests pass through each gateway."""

import collections
import threading

import pytest

from gateways.gateways import NAMES
from gateways.site import Site, assay, refresh, request, token
from harness.client import ConnectionClosed
from harness.tokens import rsa_key


class Traffic:
    """Sends requests in a loop over kept connections, and counts the responses to each by status."""

    def __init__(self, site: Site, requests: dict[str, bytes]):
        self._site = site
        self._requests = requests
        self.answers: dict[str, collections.Counter[int]] = collections.defaultdict(collections.Counter)
        self._condition = threading.Condition()
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(3)]

    def send(self, name: str, octets: bytes) -> None:
        """Adds a request."""
        with self._condition:
            self._requests = self._requests | {name: octets}

    def await_rounds(self, count: int = 20) -> None:
        """Waits for this many further responses to every request."""
        with self._condition:
            goals = {name: self.answers[name].total() + count for name in self._requests}
            assert self._condition.wait_for(
                lambda: all(self.answers[name].total() >= goal for name, goal in goals.items()), 30
            ), self.answers

    def _run(self) -> None:
        connection = None
        while not self._stopped.is_set():
            for name, octets in self._requests.items():
                try:
                    connection = connection or self._site.connect()
                    connection.send(octets)
                    response = connection.unchecked_response("GET")
                    status = response.status
                    if response.header("Connection") == "close":
                        connection = connection.close()
                except (ConnectionClosed, OSError):
                    connection, status = None, 0
                with self._condition:
                    self.answers[name][status] += 1
                    self._condition.notify_all()

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        for thread in self._threads:
            thread.join()


@pytest.mark.parametrize("name", NAMES)
def test_a_rotation_under_load_denies_no_valid_token(name, shared_server, tmp_path):
    old, new = rsa_key("old"), rsa_key("new")
    issuer = shared_server.issuer(f"rotating-behind-{name}", old)
    forged = {"forged old": rsa_key("old", 3072), "forged new": rsa_key("new", 3072)}

    def asks(case: str, key=None) -> bytes:
        return request(token(issuer, key=key, sub=case) if key else None, ("X-Case", case))

    requests = {"old": asks("old", old), "none": asks("none")}
    requests |= {case: asks(case, key) for case, key in forged.items()}
    with assay(issuer) as service, Site(name, service.wait_until_ready().api.address, tmp_path / name) as site:
        with Traffic(site, requests) as traffic:
            traffic.await_rounds()
            issuer.rotate(old, new)
            refresh(service)
            traffic.send("new", asks("new", new))
            traffic.await_rounds()
            issuer.rotate(new)
            refresh(service, "?drop_omitted=true")
            withdrawn = traffic.answers["old"].total()
            traffic.await_rounds()
        answers = {name: set(counts) for name, counts in traffic.answers.items()}
        assert answers == {"old": {200, 401}, "new": {200}} | dict.fromkeys(["none", *forged], {401})
        # Requests in flight may still have passed.
        assert traffic.answers["old"][200] <= withdrawn + 3
        # No other request reached the backend, and each had the right identity.
        told = {(*each.values("X-Case"), *each.values("X-Auth-Subject")) for each in site.backend.received}
        assert told == {("old", "old"), ("new", "new")}
