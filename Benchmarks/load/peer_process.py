"""Starts a peer, waits for it, and checks that it verifies tokens."""

import http.client
import pathlib
import subprocess
import time

import pools
from build import Builder
from peers import Peer, Site
from pools import Pools
from processes import Process, Unavailable, free_port


class RunningPeer(Process):
    """A peer that has been shown to accept good tokens and, unless it only echoes, to reject tampered ones."""

    def __init__(self, peer: Peer, site: Site, cores: list[int] | None):
        self.peer, self.port = peer, site.port
        site.own.mkdir(parents=True, exist_ok=True)
        log = site.own / "log"
        with open(log, "w") as stream:
            super().__init__(
                peer.command(site),
                cores=cores,
                environment=peer.environment(site),
                stdout=stream,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
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
                    raise Unavailable(f"did not start: {words or 'its log is empty'}") from None
                time.sleep(0.05)

    def _check(self, site: Site) -> None:
        pool = self.peer.pool(site.pools, site.algorithm)
        sign_ins = site.pools.sign_ins(site.algorithm)
        if any(pools.ask(self.port, pool, line)[0] != 200 for line in pool.lines(20)):
            raise Unavailable("rejects good tokens")
        if not self.peer.verifies:
            return
        for token, nonce in sign_ins[:20]:
            for spoilt in (pools.spoilt_payload(token), pools.spoilt_signature(token)):
                line = spoilt if self.peer.is_bearer else pools.body(spoilt, nonce)
                if pools.ask(self.port, pool, line)[0] not in (400, 401, 403, 422):
                    raise Unavailable("accepts a tampered token")


def start(
    peer: Peer, algorithm: str, made: Pools, builder: Builder, venv: pathlib.Path, cores: list[int] | None = None
) -> RunningPeer:
    site = Site(algorithm, free_port(), made, builder, venv, made.directory / f"{peer.name}-{algorithm}")
    return RunningPeer(peer, site, cores)
