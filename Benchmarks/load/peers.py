"""The peers: other ways to verify an ID Token over HTTP, and an echo that verifies nothing."""

import dataclasses
import json
import pathlib
import re
import shutil
import string
from collections.abc import Callable

from build import PEER_SOURCES, Builder
from pools import Pool, Pools
from processes import Unavailable, output

APACHE_MODULES = pathlib.Path("/usr/lib/apache2/modules")


@dataclasses.dataclass(frozen=True)
class Site:
    """The surroundings of one peer: an algorithm, a port, and a directory of its own."""

    algorithm: str
    port: int
    pools: Pools
    builder: Builder
    venv: pathlib.Path
    own: pathlib.Path

    def fill(self, template: str, **values) -> pathlib.Path:
        """Fills in a configuration template from Benchmarks/peers."""
        source = PEER_SOURCES / template
        text = string.Template(source.read_text()).substitute(
            port=self.port, directory=self.pools.directory, algorithm=self.algorithm, own=self.own, **values
        )
        file = self.own / source.name
        file.write_text(text)
        return file

    def program(self, name: str) -> str:
        """Prefers a program in the virtual environment to the system's."""
        found = shutil.which(name, path=str(self.venv / "bin")) or shutil.which(name)
        if not found:
            raise Unavailable(f"{name} is not installed")
        return found


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    label: str
    answers: str
    """What it reads and returns, for the report."""
    command: Callable[[Site], list]
    version: Callable[[Site], str]
    is_bearer: bool = False
    verifies: bool = True
    environment: Callable[[Site], dict] = lambda site: {}

    def pool(self, made: Pools, algorithm: str) -> Pool:
        return made.tokens(algorithm) if self.is_bearer else made.good(algorithm)


def _envoy(site: Site, cache: str = "") -> list:
    found = sorted(site.venv.glob("lib/python3*/site-packages/envoy/_bin/envoy"))
    program = str(found[0]) if found else site.program("envoy")
    options = f"--concurrency 2 --base-id {site.port} --log-level error"
    return [program, "-c", site.fill("envoy/envoy.yaml", cache=cache), *options.split()]


def _haproxy(site: Site) -> list:
    return [site.program("haproxy"), "-db", "-q", "-f", site.fill("haproxy/haproxy.cfg")]


def _apache(site: Site) -> list:
    if not (APACHE_MODULES / "mod_oauth2.so").exists():
        raise Unavailable("mod_oauth2 is not installed")
    (site.own / "htdocs").mkdir(exist_ok=True)
    (site.own / "htdocs" / "index.html").write_text('{"valid":true}')
    key = site.pools.keys[site.algorithm]
    configuration = site.fill(
        "apache/apache.conf", modules=APACHE_MODULES, jwk=json.dumps(key.jwk).replace('"', '\\"'), key_id=key.key_id
    )
    return [site.program("apache2"), "-f", configuration, "-DFOREGROUND"]


def _uvicorn(site: Site) -> list:
    options = f"--workers 2 --host 127.0.0.1 --port {site.port} --no-access-log --log-level error app:app"
    return [site.program("uvicorn"), *options.split()]


def _granian(site: Site) -> list:
    options = f"--interface asgi --workers 2 --host 127.0.0.1 --port {site.port} --no-ws --log-level error app:app"
    return [site.program("granian"), *options.split()]


def _python_environment(site: Site) -> dict:
    return {"KEYS": str(site.pools.key_set), "PYTHONPATH": str(PEER_SOURCES / "python")}


def _debian(package: str) -> str:
    return output("dpkg-query", "-W", "-f", "${Version}", package)


def _python(site: Site, package: str) -> str:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return output(str(site.venv / "bin" / "python"), "-c", code)


def _swift(site: Site, package: str) -> str:
    resolved = json.loads((PEER_SOURCES / "swift" / "Package.resolved").read_text())
    return next(pin["state"]["version"] for pin in resolved["pins"] if pin["identity"] == package)


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else "?"


ALL = [
    Peer(
        "echo",
        "bare echo (NIOHTTP1)",
        "the body back, unread",
        lambda site: [site.builder.swift("echo"), str(site.port)],
        lambda site: f"swift-nio {_swift(site, 'swift-nio')}",
        verifies=False,
    ),
    Peer(
        "envoy",
        "Envoy jwt_authn",
        "a header; yes or no",
        _envoy,
        lambda site: "Envoy " + _first(r"/(\d+\.\d+\.\d+)", output(_envoy(site)[0], "--version")),
        is_bearer=True,
    ),
    Peer(
        "haproxy",
        "HAProxy jwt_verify",
        "a header; yes or no",
        _haproxy,
        lambda site: "HAProxy " + _first(r"version (\S+)", output(site.program("haproxy"), "-v")),
        is_bearer=True,
    ),
    Peer(
        "apache",
        "Apache mod_oauth2",
        "a header; yes or no",
        _apache,
        lambda site: f"Apache {_debian('apache2-bin')}, mod_oauth2 {_debian('libapache2-mod-oauth2')}",
        is_bearer=True,
    ),
    Peer(
        "go-oidc",
        "Go, go-oidc",
        "JSON; an identity",
        lambda site: [site.builder.go("go-oidc"), str(site.port), site.pools.key_set],
        lambda site: (
            f"{_first(r'(go[0-9.]+)', output('go', 'version'))}, go-oidc {_debian('golang-github-coreos-go-oidc-dev')}"
        ),
        environment=lambda site: {"GOMAXPROCS": "2"},
    ),
    Peer(
        "golang-jwt",
        "Go, golang-jwt",
        "JSON; an identity",
        lambda site: [
            site.builder.go("golang-jwt"),
            str(site.port),
            site.pools.directory / "RS256.pem",
            site.pools.directory / "ES256.pem",
        ],
        lambda site: (
            f"{_first(r'(go[0-9.]+)', output('go', 'version'))}, golang-jwt "
            f"{_debian('golang-github-golang-jwt-jwt-dev')}"
        ),
        environment=lambda site: {"GOMAXPROCS": "2"},
    ),
    Peer(
        "node",
        "Node crypto",
        "JSON; an identity",
        lambda site: [site.program("node"), PEER_SOURCES / "node" / "server.js", str(site.port), site.pools.key_set],
        lambda site: f"Node {output(site.program('node'), '--version')}",
    ),
    Peer(
        "uvicorn",
        "PyJWT, uvicorn",
        "JSON; an identity",
        _uvicorn,
        lambda site: f"uvicorn {_python(site, 'uvicorn')}, PyJWT {_python(site, 'PyJWT')}",
        environment=_python_environment,
    ),
    Peer(
        "granian",
        "PyJWT, granian",
        "JSON; an identity",
        _granian,
        lambda site: f"granian {_python(site, 'granian')}, PyJWT {_python(site, 'PyJWT')}",
        environment=_python_environment,
    ),
    Peer(
        "jwtkit",
        "jwt-kit, Hummingbird",
        "JSON; an identity",
        lambda site: [site.builder.swift("jwtkit"), str(site.port), site.pools.key_set],
        lambda site: f"jwt-kit {_swift(site, 'jwt-kit')}, Hummingbird {_swift(site, 'hummingbird')}",
    ),
]


CACHING_ENVOY = dataclasses.replace(
    next(peer for peer in ALL if peer.name == "envoy"),
    name="caching-envoy",
    label="Envoy jwt_authn, with its token cache",
    command=lambda site: _envoy(site, "jwt_cache_config: { jwt_cache_size: 1000 }"),
)


def named(name: str) -> Peer:
    return next(peer for peer in ALL if peer.name == name)
