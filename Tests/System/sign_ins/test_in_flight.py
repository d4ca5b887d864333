"""A thousand finishes at a slow provider delay no other requests, and their memory is released."""

import json
import time

from grants.grants import with_client
from harness import reload
from harness.client import Connection, request_bytes
from harness.service import Service
from harness.token_endpoint import GRANT, TokenEndpoint, parked
from harness.tokens import ec_key
from harness.waiting import poll
from harness.wire import MIB, many_descriptors

from .calls import ON, begin

PATH = "/v1/sign-ins/finish"
COUNT, BATCH, ROUNDS = 1000, 100, 3
# Mostly for the connections to the client and to the provider, which take about 30 KiB for each finish.
PEAK = 100 * MIB
# From the first round to the last. The process reuses freed memory, and the claims take less than 0.2 MiB.
GROWTH = 8 * MIB


def test_a_thousand_finishes_in_flight_delay_nothing_and_do_not_leak(shared_server, tmp_path):
    issuer = shared_server.issuer("in-flight", ec_key("in-flight"))
    grants: dict[str, bytes] = {}
    with many_descriptors(), TokenEndpoint() as endpoint:
        endpoint.usually(parked)
        entry = with_client(issuer, endpoint, tmp_path, max_calls=1024)
        limits = {"provider_timeout": "10s", "max_in_flight": 2048, "max_connections": 4096}
        with Service(entry, limits=limits, **ON) as service:
            service.wait_until_ready()

            def finishes(round: int) -> list[bytes]:
                bodies = []
                for index in range(COUNT):
                    begun, code = begin(service), f"{round}-{index}"
                    grants[code] = json.dumps(GRANT | {"id_token": issuer.token(nonce=begun["nonce"])}).encode()
                    bodies.append(json.dumps({"sign_in": begun["sign_in"], "code": code}).encode())
                return [request_bytes("POST", PATH, body) for body in bodies]

            descriptors, before, rests = service.descriptors(), service.resident(), []
            for round in range(ROUNDS):
                requests = finishes(round)
                endpoint.forget()
                connections = [Connection(service.api.address, timeout=60) for _ in requests]
                # In batches: all at once are an overload, which is shed.
                for first in range(0, COUNT, BATCH):
                    for index in range(first, first + BATCH):
                        connections[index].send(requests[index])
                    endpoint.wait_for(lambda sent=first + BATCH: endpoint.received() == sent)
                assert reload.metrics(service).value("assay_provider_calls_in_flight", provider="oidc") == COUNT
                began = time.monotonic()
                for user in range(50):
                    service.accept(issuer.token(sub=f"user-{user}"))
                assert time.monotonic() - began < 5
                assert service.resident() - before < PEAK
                endpoint.release(lambda call: grants[call.form["code"]])
                for connection in connections:
                    assert connection.response("POST", PATH).status == 200
                    connection.close()
                # Idle connections to the provider are closed after a few seconds.
                poll(lambda: service.descriptors() <= descriptors + 2)
                assert reload.metrics(service).value("assay_provider_calls_in_flight", provider="oidc") == 0
                rests.append(service.resident())
    sizes = [size // 1024 for size in (before, *rests)]
    assert rests[-1] - rests[0] < GROWTH, sizes
    print("KiB at rest before and after each round:", sizes)
