"""Start-up time, throughput and memory of development providers, on which other test suites depend."""

import time
import urllib.parse

from harness.commands import Dev


def seconds(body) -> float:
    start = time.monotonic()
    body()
    return time.monotonic() - start


def peak_memory(dev) -> int:
    """The peak memory of the process, in bytes."""
    with open(f"/proc/{dev.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024


def test_start_pages_and_sign_ins_are_fast():
    """The best of several rounds counts, because other load only makes rounds slower."""

    def first_token():
        with Dev() as dev:
            assert dev.api.post("/v1/verify", dev.token("apple")).status == 200

    assert min(seconds(first_token) for _ in range(3)) < 2

    with Dev() as dev:
        assert min(seconds(lambda: dev.ask_issuer("GET", "/")) for _ in range(10)) < 0.1

        def native():
            begun = dev.api.post("/v1/sign-ins", {"provider": "apple"}).json
            token = dev.token("apple", nonce=begun["nonce"])["id_token"]
            assert dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "id_token": token}).status == 200

        def in_a_browser():
            request = {"provider": "google", "redirect_uri": "http://localhost:8000/callback/google", "prompt": "none"}
            begun = dev.api.post("/v1/sign-ins", request).json
            page = dev.ask_issuer("GET", begun["authorization_url"].split(dev.issuer_address)[1])
            response = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.header("Location")).query))
            assert dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response}).status == 200

        for sign_in in (native, in_a_browser):
            # 200 per second.
            assert min(seconds(lambda: [sign_in() for _ in range(50)]) for _ in range(10)) < 50 / 200, sign_in
        assert peak_memory(dev) < 60_000_000
