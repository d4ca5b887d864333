"""Kills the service while it archives its keys."""

import base64
import contextlib
import json
import os
import pathlib
import random
import shutil
import tempfile
import time

from cryptography.hazmat.primitives.asymmetric import ec

from .service import Process, write_config
from .tokens import Key, b64url, jws
from .waiting import poll


class LargeSets:
    """Key sets of a hundred keys with certificates, with new keys in each round.

    The first and the last key sign, so if tokens of both verify, the set is complete. The key IDs stay the same, so new
    keys replace old ones.
    """

    def __init__(self, chance: random.Random):
        # The other keys never sign, so any odd number of the right length is good enough as modulus.
        between = [
            {
                "kty": "RSA",
                "use": "sig",
                "kid": str(number),
                "e": "AQAB",
                "n": b64url(b"\x80" + chance.randbytes(254) + b"\x01"),
                "x5c": [base64.b64encode(chance.randbytes(300)).decode()],
            }
            for number in range(100)
        ]
        self._between = ", ".join(map(json.dumps, between))
        self._rounds: dict[int, list[Key]] = {}

    def publish(self, number: int, issuers) -> None:
        """Publishes the keys of a round for all issuers."""
        self._rounds[number] = [Key(ec.generate_private_key(ec.SECP256R1()), kid) for kid in ("first", "last")]
        first, last = self._rounds[number]
        body = f'{{"keys": [{json.dumps(first.jwk())}, {self._between}, {json.dumps(last.jwk())}]}}'.encode()
        for issuer in issuers:
            issuer.jwks.body = body

    def tokens(self, number: int, issuer) -> list[str]:
        """Tokens that verify only with the complete set of a round."""
        return [jws(key, issuer.claims()) for key in self._rounds[number]]


class CacheDirectory:
    """A cache directory that starts as a copy of an earlier one, including partial files."""

    def __init__(self, path: pathlib.Path, issuers, earlier: "CacheDirectory | None"):
        self.path = path
        if earlier:
            shutil.copytree(earlier.path, path)
        else:
            path.mkdir()
        self._ids = [issuer.name for issuer in issuers]
        # The round whose keys are on disk, by provider.
        self.held = dict(earlier.held) if earlier else dict.fromkeys(self._ids)
        self._contents = self._read()
        self._stamps = self._stat()

    def _read(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in self.path.iterdir()}

    def _stat(self) -> dict[str, tuple]:
        stamps = {}
        with os.scandir(self.path) as entries:
            for entry in entries:
                # It may have been renamed meanwhile.
                with contextlib.suppress(FileNotFoundError):
                    status = entry.stat()
                    stamps[entry.name] = status.st_ino, status.st_mtime_ns
        return stamps

    @property
    def progress(self) -> int:
        """Counts two steps per file: it is being written, and it has replaced the old one."""
        stamps = self._stat()
        steps = 0
        for id in self._ids:
            kept, new = f"{id}.keys", f"{id}.keys.new"
            if stamps.get(kept) != self._stamps.get(kept):
                steps += 2
            elif stamps.get(new) != self._stamps.get(new):
                steps += 1
        return steps

    def take_note(self, number: int) -> str:
        """After the kill, records what each provider has on disk, and which step the kill interrupted."""
        changed = {name for name, content in self._read().items() if content != self._contents.get(name)}
        replaced = [id for id in self._ids if f"{id}.keys" in changed]
        self.held |= dict.fromkeys(replaced, number)
        if len(changed) > len(replaced):
            return "within a file"
        return {0: "before the first", len(self._ids): "after the last"}.get(len(replaced), "between two files")


def until(condition) -> None:
    """Polls ten times per millisecond, for conditions that last less than one millisecond."""
    poll(condition, pause=0.0001)


def kill_while_keeping(directory: CacheDirectory, issuers, settings: list[dict], chance: random.Random) -> None:
    """Starts the service, and kills it while it archives fetched keys."""
    listeners = {"service": {"listen": "127.0.0.1:0"}, "admin": {"listen": "127.0.0.1:0"}}
    configuration = listeners | {"cache_directory": str(directory.path), "providers": settings}
    asked = sum(issuer.jwks.count for issuer in issuers)
    with tempfile.TemporaryDirectory() as place:
        process = Process("serve", "--config", str(write_config(pathlib.Path(place), configuration)))
        try:
            if chance.random() < 0.25:
                asked += chance.randint(1, len(issuers))
                pause = chance.uniform(0, 0.03)
                until(lambda: sum(issuer.jwks.count for issuer in issuers) >= asked)
            else:
                progress = chance.randint(1, 2 * len(issuers))
                pause = chance.uniform(0, 0.001)
                until(lambda: directory.progress >= progress)
            moment = time.perf_counter() + pause
            until(lambda: time.perf_counter() >= moment)
        finally:
            process.kill()
