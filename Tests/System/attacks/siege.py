"""Attacks on the wire while other requests are served, with the invariants that must hold during and after them."""

import contextlib

from harness.load import Load
from harness.service import Service, provider
from harness.wire import gauges, statuses


def besieged(issuer, **settings) -> Service:
    """A service for one test, without request logs."""
    return Service(provider(issuer), **({"log": {"requests": False}} | settings))


@contextlib.contextmanager
def unharmed(service, issuer):
    """Asserts that valid requests on another connection succeed throughout, and that nothing is left over afterwards."""
    before = statuses(service)
    with Load(service.api.address, {"good": [(issuer.token(), None)]}, threads=1) as load:
        yield
        load.passes("good")
    assert_sound(service, before)


def assert_sound(service, before: dict[int, int] | None = None) -> None:
    """Asserts that the service runs, is idle, has answered no 5xx other than 503, and has logged no errors."""
    code = service.process.poll()
    assert code is None, f"the service ended with {code}:\n" + "\n".join(service.log[-10:])
    faults = {status: count for status, count in statuses(service).items() if status >= 500 and status != 503}
    assert not faults, faults
    if before is not None:
        assert statuses(service).get(503, 0) == before.get(503, 0), "valid requests were refused"
    service.wait_until(lambda: gauges(service)[1:] == (0, 0), timeout=30)
    assert not service.entries(level="error")
