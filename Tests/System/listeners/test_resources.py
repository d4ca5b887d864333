"""The service's use of the machine's resources."""

import os
import pathlib

import pytest

from harness.service import Service, provider
from harness.tokens import rsa_key


def test_there_is_one_event_loop_for_each_available_processor(server):
    issuer = server.issuer("op", rsa_key())

    def loops() -> int:
        with Service(provider(issuer)) as service:
            service.wait_until_ready()
            names = [
                (task / "comm").read_text() for task in pathlib.Path(f"/proc/{service.process.pid}/task").iterdir()
            ]
        return sum(name.startswith("NIO-ELT") for name in names)

    before = os.sched_getaffinity(0)
    quota = pathlib.Path("/sys/fs/cgroup/cpu.max")
    if len(before) < 2 or (quota.exists() and not quota.read_text().startswith("max")):
        pytest.skip("two processors without a quota are needed")
    many = loops()
    try:
        os.sched_setaffinity(0, {min(before)})
        one = loops()
    finally:
        os.sched_setaffinity(0, before)
    assert many - one == len(before) - 1
