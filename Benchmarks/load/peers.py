"""What the service is measured beside: other ways to check an ID Token over HTTP, and an echo that checks nothing."""
import dataclasses
import http.client
import json
import pathlib
import re
import shutil
import string
import subprocess
import time
from collections.abc import Callable

import pools
from build import PEERS, Builder
from pools import Pool, Pools
from processes import Process, Unavailable, free_port, output

APACHE_MODULES = pathlib.Path("/usr/lib/apache2/modules")


@dataclasses.dataclass(frozen=True)
class Site:
    """Where a peer is started: for one algorithm, on a port, with files of its own."""

    algorithm: str
    port: int
    pools: Pools
    builder: Builder
    venv: pathlib.Path
    own: pathlib.Path

    def fill(self, template: str, **values) -> pathlib.Path:
        """A configuration from Benchmarks/peers, with its blanks filled in."""
        source = PEERS / template
        text = string.Template(source.read_text()).substitute(
            port=self.port, directory=self.pools.directory, algorithm=self.algorithm, own=self.own, **values)
        file = self.own / source.name
        file.write_text(text)
        return file

    def program(self, name: str) -> str:
        """From the Python environment, else from the system."""
        found = shutil.which(name, path=str(self.venv / "bin")) or shutil.which(name)
        if not found:
            raise Unavailable(f"{name} is not installed")
        return found


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    label: str
    answers: str
    """What it reads and says, for the report."""
    command: Callable[[Site], list]
    version: Callable[[Site], str]
    is_bearer: bool = False
    verifies: bool = True
    environment: Callable[[Site], dict] = lambda site: {}

    def pool(self, made: Pools, algorithm: str) -> Pool:
        return made.tokens(algorithm) if self.is_bearer else made.good(algorithm)


def _envoy(site: Site) -> list:
    found = sorted(site.venv.glob("lib/python3*/site-packages/envoy/_bin/envoy"))
    program = str(found[0]) if found else site.program("envoy")
    return [program, "-c", site.fill("envoy/envoy.yaml"), "--concurrency", "2", "--base-id", str(site.port),
            "--log-level", "error"]


def _haproxy(site: Site) -> list:
    return [site.program("haproxy"), "-db", "-q", "-f", site.fill("haproxy/haproxy.cfg")]


def _apache(site: Site) -> list:
    if not (APACHE_MODULES / "mod_oauth2.so").exists():
        raise Unavailable("mod_oauth2 is not installed")
    (site.own / "htdocs").mkdir(exist_ok=True)
    (site.own / "htdocs" / "index.html").write_text('{"valid":true}')
    key = site.pools.keys[site.algorithm]
    configuration = site.fill(
        "apache/apache.conf", modules=APACHE_MODULES, jwk=json.dumps(key.jwk).replace('"', '\\"'), key_id=key.key_id)
    return [site.program("apache2"), "-f", configuration, "-DFOREGROUND"]


def _uvicorn(site: Site) -> list:
    return [site.program("uvicorn"), "--workers", "2", "--host", "127.0.0.1", "--port", site.port, "--no-access-log",
            "--log-level", "error", "app:app"]


def _granian(site: Site) -> list:
    return [site.program("granian"), "--interface", "asgi", "--workers", "2", "--host", "127.0.0.1", "--port", site.port,
            "--no-ws", "--log-level", "error", "app:app"]


def _python_environment(site: Site) -> dict:
    return {"KEYS": str(site.pools.key_set), "PYTHONPATH": str(PEERS / "python")}


def _debian(package: str) -> str:
    return output("dpkg-query", "-W", "-f", "${Version}", package)


def _python(site: Site, package: str) -> str:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return output(str(site.venv / "bin" / "python"), "-c", code)


def _swift(site: Site, package: str) -> str:
    resolved = json.loads((PEERS / "swift" / "Package.resolved").read_text())
    return next(pin["state"]["version"] for pin in resolved["pins"] if pin["identity"] == package)


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else "?"


PEERS_KNOWN = [
    Peer("echo", "bare echo (NIOHTTP1)", "the body back, unread",
         lambda site: [site.builder.swift("echo"), str(site.port)],
         lambda site: f"swift-nio {_swift(site, 'swift-nio')}", verifies=False),
    Peer("envoy", "Envoy jwt_authn", "a header; yes or no", _envoy,
         lambda site: "Envoy " + _first(r"/(\d+\.\d+\.\d+)", output(_envoy(site)[0], "--version")), is_bearer=True),
    Peer("haproxy", "HAProxy jwt_verify", "a header; yes or no", _haproxy,
         lambda site: "HAProxy " + _first(r"version (\S+)", output(site.program("haproxy"), "-v")), is_bearer=True),
    Peer("apache", "Apache mod_oauth2", "a header; yes or no", _apache,
         lambda site: f"Apache {_debian('apache2-bin')}, mod_oauth2 {_debian('libapache2-mod-oauth2')}", is_bearer=True),
    Peer("go-oidc", "Go, go-oidc", "JSON; an identity",
         lambda site: [site.builder.go("go-oidc"), str(site.port), site.pools.key_set],
         lambda site: f"{_first(r'(go[0-9.]+)', output('go', 'version'))}, "
                      f"go-oidc {_debian('golang-github-coreos-go-oidc-dev')}",
         environment=lambda site: {"GOMAXPROCS": "2"}),
    Peer("golang-jwt", "Go, golang-jwt", "JSON; an identity",
         lambda site: [site.builder.go("golang-jwt"), str(site.port), site.pools.directory / "RS256.pem",
                       site.pools.directory / "ES256.pem"],
         lambda site: f"{_first(r'(go[0-9.]+)', output('go', 'version'))}, "
                      f"golang-jwt {_debian('golang-github-golang-jwt-jwt-dev')}",
         environment=lambda site: {"GOMAXPROCS": "2"}),
    Peer("node", "Node crypto", "JSON; an identity",
         lambda site: [site.program("node"), PEERS / "node" / "server.js", str(site.port), site.pools.key_set],
         lambda site: f"Node {output(site.program('node'), '--version')}"),
    Peer("uvicorn", "PyJWT, uvicorn", "JSON; an identity", _uvicorn,
         lambda site: f"uvicorn {_python(site, 'uvicorn')}, PyJWT {_python(site, 'PyJWT')}",
         environment=_python_environment),
    Peer("granian", "PyJWT, granian", "JSON; an identity", _granian,
         lambda site: f"granian {_python(site, 'granian')}, PyJWT {_python(site, 'PyJWT')}",
         environment=_python_environment),
    Peer("jwtkit", "jwt-kit, Hummingbird", "JSON; an identity",
         lambda site: [site.builder.swift("jwtkit"), str(site.port), site.pools.key_set],
         lambda site: f"jwt-kit {_swift(site, 'jwt-kit')}, Hummingbird {_swift(site, 'hummingbird')}"),
]


def named(name: str) -> Peer:
    return next(peer for peer in PEERS_KNOWN if peer.name == name)


class RunningPeer(Process):
    """A peer that has been seen to take good tokens and, unless it only echoes, to refuse spoilt ones."""

    def __init__(self, peer: Peer, site: Site):
        self.peer, self.port = peer, site.port
        site.own.mkdir(parents=True, exist_ok=True)
        log = site.own / "log"
        with open(log, "w") as stream:
            super().__init__(peer.command(site), environment=peer.environment(site), stdout=stream,
                             stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            self.version = peer.version(site)
            self._wait(site, log)
            self._check(site)
        except BaseException:
            self.stop()
            raise

    def _wait(self, site: Site, log: pathlib.Path) -> None:
        pool = self.peer.pool(site.pools, site.algorithm)
        line, deadline = pool.lines(1)[0], time.monotonic() + 30
        while True:
            try:
                pools.ask(self.port, pool, line)
                return
            except (OSError, http.client.HTTPException):
                if not self.is_running() or time.monotonic() > deadline:
                    words = " ".join(log.read_text().split())[-200:]
                    raise Unavailable(f"did not start: {words or 'no word why'}") from None
                time.sleep(0.05)

    def _check(self, site: Site) -> None:
        pool = self.peer.pool(site.pools, site.algorithm)
        sign_ins = site.pools.sign_ins(site.algorithm)
        if any(pools.ask(self.port, pool, line)[0] != 200 for line in pool.lines(20)):
            raise Unavailable("refuses good tokens")
        if not self.peer.verifies:
            return
        for token, nonce in sign_ins[:20]:
            for spoilt in (pools.spoilt_payload(token), pools.spoilt_signature(token)):
                line = spoilt if self.peer.is_bearer else pools.body(spoilt, nonce)
                if pools.ask(self.port, pool, line)[0] not in (400, 401, 403, 422):
                    raise Unavailable("takes a spoilt token")


def start(peer: Peer, algorithm: str, made: Pools, builder: Builder, venv: pathlib.Path) -> RunningPeer:
    site = Site(algorithm, free_port(), made, builder, venv, made.directory / f"{peer.name}-{algorithm}")
    return RunningPeer(peer, site)
