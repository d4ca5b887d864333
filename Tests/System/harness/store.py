"""A Valkey or Redis server as a process, which can be stopped, frozen, and restarted with its data."""

import pathlib
import shutil
import socket
import subprocess

from .freezing import freeze, thaw
from .waiting import free_port, poll

# Allows a test to block the server.
SLEEPY = ("--enable-debug-command", "yes")
SERVERS = [server for server in ("valkey-server", "redis-server") if shutil.which(server)]


class Store:
    """A server that keeps nothing on disk by default."""

    def __init__(self, directory: pathlib.Path, *options: str, server: str = SERVERS[0], tls: bool = False):
        self.directory, self.options, self.server = directory, options, server
        self.port = free_port()
        directory.mkdir(parents=True, exist_ok=True)
        self.listening = ["--port", "0", "--tls-port", str(self.port)] if tls else ["--port", str(self.port)]
        self.scheme = "rediss" if tls else "redis"
        self.start()

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        arguments = [*self.listening, "--save", "", "--repl-diskless-sync-delay", "0", "--dir", str(self.directory), "--maxmemory-policy", "noeviction"]
        self.process = subprocess.Popen(
            [self.server, *arguments, *self.options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        poll(self.is_up)

    def is_up(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1):
                return True
        except OSError:
            assert self.process.poll() is None, "the server has ended"
            return False

    def command(self, *words: str) -> str:
        """Runs a command without TLS; returns the reply as received."""
        with socket.create_connection(("127.0.0.1", self.port), 5) as connection:
            parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
            connection.sendall((f"*{len(words)}\r\n" + "".join(parts)).encode())
            return connection.recv(65536).decode()

    def lines(self, *words: str) -> list[str]:
        """The texts in a command's reply, without their lengths."""
        return [line for line in self.command(*words).split("\r\n") if line and line[0] not in "*$"]

    def keys(self) -> list[str]:
        return self.lines("KEYS", "*")

    def sleep(self, seconds: float) -> None:
        """Blocks the server, which must have been started with `SLEEPY`."""
        self._sleeper = socket.create_connection(("127.0.0.1", self.port), 5)
        self._sleeper.sendall(f"DEBUG SLEEP {seconds}\r\n".encode())
        poll(lambda: not self.answers())

    def answers(self, timeout: float = 0.05) -> bool:
        with socket.create_connection(("127.0.0.1", self.port), timeout) as connection:
            connection.sendall(b"PING\r\n")
            try:
                return connection.recv(64) == b"+PONG\r\n"
            except TimeoutError:
                return False

    def follow(self, primary: "Store") -> None:
        """Makes this a replica of another server, and waits for its data."""
        assert self.command("REPLICAOF", "127.0.0.1", str(primary.port)).startswith("+OK")
        poll(lambda: "master_link_status:up" in self.command("INFO", "replication"))

    def freeze(self) -> None:
        freeze(self.process.pid)

    def thaw(self) -> None:
        thaw(self.process.pid)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.thaw()
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Cluster:
    """Three servers that share the slots of a cluster."""

    def __init__(self, directory: pathlib.Path, server: str = SERVERS[0]):
        self.nodes = []
        buses = [free_port() for _ in range(3)]
        for number, bus in enumerate(buses):
            options = ("--cluster-enabled", "yes", "--cluster-port", str(bus), "--cluster-announce-ip", "127.0.0.1")
            self.nodes.append(Store(directory / str(number), *options, server=server))
        for number, node in enumerate(self.nodes):
            first, last = number * 16384 // 3, (number + 1) * 16384 // 3 - 1
            assert node.command("CLUSTER", "ADDSLOTSRANGE", str(first), str(last)).startswith("+OK")
            node.command("CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
        for node, bus in zip(self.nodes[1:], buses[1:]):
            self.nodes[0].command("CLUSTER", "MEET", "127.0.0.1", str(node.port), str(bus))
        for node in self.nodes:
            poll(lambda node=node: "cluster_state:ok" in node.command("CLUSTER", "INFO"))
            poll(lambda node=node: node.command("CLUSTER", "NODES").count("connected") == 3)
        self.ids = [node.lines("CLUSTER", "MYID")[0] for node in self.nodes]

    def slot(self, key: str) -> int:
        return int(self.nodes[0].command("CLUSTER", "KEYSLOT", key).strip(":\r\n"))

    def owner(self, slot: int) -> int:
        """The index of the node that claims to own a slot."""
        for number, node in enumerate(self.nodes):
            entry = next(line for line in node.command("CLUSTER", "NODES").split("\n") if "myself" in line)
            for part in entry.split()[8:]:
                first, _, last = part.partition("-")
                if first.isdigit() and int(first) <= slot <= int(last or first):
                    return number
        raise AssertionError(f"no node owns the slot {slot}")

    def move(self, slot: int, to: int) -> None:
        """Moves a slot with its keys, as an operator does, while the cluster serves requests."""
        source, target = self.nodes[self.owner(slot)], self.nodes[to]
        owner = self.ids[self.nodes.index(source)]
        self._set_slot(target, slot, "IMPORTING", owner)
        self._set_slot(source, slot, "MIGRATING", self.ids[to])
        while keys := source.lines("CLUSTER", "GETKEYSINSLOT", str(slot), "10"):
            words = ("MIGRATE", "127.0.0.1", str(target.port), "", "0", "5000", "KEYS", *keys)
            assert source.command(*words)[:3] in ("+OK", "+NO"), "a key can't be moved"
        for node in (target, source, *self.nodes):
            self._set_slot(node, slot, "NODE", self.ids[to])

    @staticmethod
    def _set_slot(node: Store, slot: int, *words: str) -> None:
        reply = node.command("CLUSTER", "SETSLOT", str(slot), *words)
        assert reply.startswith("+OK"), reply

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.stop()
