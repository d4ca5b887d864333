"""Attacks on the wire, while others are served: what must hold during each and after it."""

import contextlib

from harness.load import Load
from harness.service import Service, provider
from harness.wire import gauges, statuses


def besieged(issuer, **settings) -> Service:
    """A service of a test's own, that logs no requests."""
    return Service(provider(issuer), **({"log": {"requests": False}} | settings))


@contextlib.contextmanager
def unharmed(service, issuer):
    """Good requests on another connection go on throughout, and afterwards nothing is left that was begun."""
    before = statuses(service)
    with Load(service.api.address, {"good": [(issuer.token(), None)]}, threads=1) as load:
        yield
        load.passes("good")
    assert_sound(service, before)


def assert_sound(service, before: dict[int, int] | None = None) -> None:
    """It runs, has answered nothing with a 5xx but 503, has no request under way, and has nothing to complain of."""
    code = service.process.poll()
    assert code is None, f"the service ended with {code}:\n" + "\n".join(service.log[-10:])
    faults = {status: count for status, count in statuses(service).items() if status >= 500 and status != 503}
    assert not faults, faults
    if before is not None:
        assert statuses(service).get(503, 0) == before.get(503, 0), "some were refused who should not have been"
    service.wait_until(lambda: gauges(service)[1:] == (0, 0), timeout=30)
    assert not service.entries(level="error")
