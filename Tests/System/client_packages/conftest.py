import concurrent.futures

import pytest

from client_packages.packages import PACKAGES, SITES, Program
from client_packages.world import World
from harness.issuer import KeyServer
from harness.token_endpoint import TokenEndpoint


@pytest.fixture(scope="session")
def installed(request, tmp_path_factory):
    """The command of each package's conformance program. Those that the run needs are built by two threads, Kotlin's by one of them."""
    parameters = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    needed = {each["package"].name for each in parameters if "package" in each}
    needed |= {SITES[each["command"]][0] for each in parameters if "command" in each}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        chosen = sorted((each for each in PACKAGES if each.name in needed), key=lambda each: each.name != "kotlin")
        builds = {each.name: pool.submit(each.install, tmp_path_factory.mktemp(each.name)) for each in chosen}
        yield lambda package: builds[package.name].result()


@pytest.fixture(scope="session")
def programs(installed):
    running: dict[str, Program] = {}

    def program(package):
        if package.name not in running:
            running[package.name] = Program(installed(package))
        return running[package.name]

    yield program
    for each in running.values():
        each.finish()


@pytest.fixture(params=PACKAGES, ids=lambda package: package.name, scope="session")
def package(request):
    return request.param


@pytest.fixture
def program(package, programs):
    return programs(package)


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    with KeyServer() as key_server, TokenEndpoint() as endpoint:
        shared = World(key_server, endpoint, tmp_path_factory.mktemp("w"))
        yield shared
        shared.stop()
