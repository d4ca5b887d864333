"""Clients that make the service hold as much memory as its limits allow, and a control group that measures it."""

import contextlib
import json
import os
import pathlib
import selectors
import socket
import ssl
import tempfile
import threading
import time

from harness.client import request_bytes

ROOT = pathlib.Path("/sys/fs/cgroup")
KIB = 1024
# How much unread data a client may leave in the socket.
NARROW = 4096
SILENT = b""
ASKED = request_bytes("GET", "/livez")
HALF = request_bytes("POST", "/v1/verify", b" " * 60_000)[:-500]
# Requests with long responses, and data that the service leaves in its socket while nobody reads them.
UNREAD = request_bytes("GET", "/openapi.yaml") * 6 + request_bytes("GET", "/nothing") * 2000


class ControlGroup:
    """A control group with a memory limit, in the version of this machine.

    Version 2 counts TCP buffers as part of the group's memory. Version 1 counts them separately, so `taken` adds them.
    """

    def __init__(self, limit: int):
        self.limit = limit
        self.is_unified = (ROOT / "cgroup.controllers").exists()
        controller = "" if self.is_unified else "memory"
        parent = ROOT / controller / own_group(controller).lstrip("/")
        # In version 2, a group with processes can't have child groups, except for the root.
        self.directory = (ROOT if self.is_unified else parent) / f"assay-{os.getpid()}-{time.monotonic_ns()}"
        self.directory.mkdir()
        if self.is_unified:
            self.write("memory.max", limit)
            with contextlib.suppress(OSError):
                self.write("memory.swap.max", 0)
        else:
            self.write("memory.limit_in_bytes", limit)
            # TCP memory is counted only if it has a limit.
            self.write("memory.kmem.tcp.limit_in_bytes", 1 << 40)

    def write(self, name: str, value: int) -> None:
        (self.directory / name).write_text(str(value))

    def read(self, name: str) -> int:
        return int((self.directory / name).read_text())

    def table(self, name: str) -> dict[str, int]:
        return {name: int(value) for name, value in map(str.split, (self.directory / name).read_text().splitlines())}

    def taken(self) -> int:
        """The memory of the group that can't be reclaimed, in bytes. Excludes the page cache."""
        stat = self.table("memory.stat")
        if self.is_unified:
            return self.read("memory.current") - stat["inactive_file"] - stat["active_file"]
        files = stat["inactive_file"] + stat["active_file"]
        return self.read("memory.usage_in_bytes") - files + self.read("memory.kmem.tcp.usage_in_bytes")

    def parts(self) -> dict[str, float]:
        """What `taken` consists of, in MiB."""
        stat = self.table("memory.stat")
        if self.is_unified:
            return {name: round(stat[name] / KIB**2, 1) for name in ("anon", "kernel", "sock")}
        parts = {"anon": stat["rss"], "kernel": self.read("memory.kmem.usage_in_bytes")}
        parts["sock"] = self.read("memory.kmem.tcp.usage_in_bytes")
        return {name: round(bytes / KIB**2, 1) for name, bytes in parts.items()}

    def kills(self) -> int:
        """How many processes of the group the kernel has killed because it was out of memory."""
        return self.table("memory.events" if self.is_unified else "memory.oom_control")["oom_kill"]

    def close(self) -> None:
        self.directory.rmdir()


def own_group(controller: str) -> str:
    """The path of this process's control group."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    raise AssertionError(f"no control group of {controller or 'version 2'}")


@contextlib.contextmanager
def binary_within(group: ControlGroup, binary: str):
    """A program that enters the control group and then starts the service."""
    with tempfile.TemporaryDirectory() as directory:
        program = pathlib.Path(directory) / "assay"
        program.write_text(f'#!/bin/sh\necho $$ > {group.directory}/cgroup.procs\nexec {binary} "$@"\n')
        program.chmod(0o755)
        yield str(program)


class Hoard:
    """Connections that send the same data and read nothing. Closed connections are reopened."""

    def __init__(self, address: str, count: int, octets: bytes, context: ssl.SSLContext | None = None):
        self.count, self.octets, self.context = count, octets, context
        self._host, port = address.rsplit(":", 1)
        self._place = (self._host, int(port))
        self._selector = selectors.DefaultSelector()
        # Data that is still to be sent, by connection.
        self._connections: dict[socket.socket, memoryview] = {}
        # Whether all have been open, apart from those that the service closed meanwhile.
        self.was_full = False
        self._opened = 0

    def fill(self) -> None:
        """For a few seconds, opens missing connections and sends what can be sent without blocking."""
        end = time.monotonic() + 3
        for _ in range(min(self.count - len(self._connections), 400)):
            if time.monotonic() > end:
                break
            try:
                self._open()
            except OSError:
                return
        for key, _ in self._selector.select(0):
            self._step(key.fileobj)

    def _open(self) -> None:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, NARROW)
        connection.settimeout(2)
        try:
            connection.connect(self._place)
            if self.context:
                connection = self.context.wrap_socket(connection, server_hostname=self._host)
        except OSError:
            connection.close()
            raise
        connection.setblocking(False)
        self._connections[connection] = memoryview(self.octets)
        self._opened += 1
        self.was_full |= self._opened >= self.count
        self._selector.register(connection, selectors.EVENT_WRITE)
        self._step(connection)

    def _step(self, connection: socket.socket) -> None:
        rest = self._connections[connection]
        try:
            if rest:
                self._connections[connection] = rest = rest[connection.send(rest) :]
            # A closed connection counts as writable, but the write fails.
            if not rest and connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) != b"\x01":
                raise ConnectionResetError
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            return
        except OSError:
            self._selector.unregister(connection)
            del self._connections[connection]
            connection.close()

    @property
    def open(self) -> int:
        return len(self._connections)

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
        self._selector.close()


class Batches:
    """Threads that send batches of the maximum size, which wait for keys."""

    def __init__(self, api, token: str, count: int, items: int):
        item = {"id_token": token, "code": "c" * 15_000}
        self._body = json.dumps({"items": [item] * items}).encode()
        self._api = api
        self._end = threading.Event()
        self.statuses: set[int] = set()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                with self._api.connect(timeout=20) as connection:
                    connection.send_tolerantly(request_bytes("POST", "/v1/verify/batch", self._body))
                    self.statuses.add(connection.unchecked_response().status)
            except Exception:
                # The service has refused the batch before its end.
                self._end.wait(0.05)

    def close(self) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join(30)
