"""Many OpenID Providers under one address on loopback, each with three RSA keys of its own, in a process of its own.

usage: issuer_server.py [MODULI]

Prints its port. The issuer with the number N is `http://127.0.0.1:PORT/N`. The first key of its set has the modulus in
line N of the file MODULI, in hexadecimal; without one, nobody can sign with it. `/slow-N` takes 100 ms for each
response, and `/none-N` does not exist. `GET /requests` tells how often documents were fetched.
"""

import asyncio
import collections
import pathlib
import random
import sys
import time

import mint

DELAY = 0.1
MODULI = [int(line, 16) for line in pathlib.Path(sys.argv[1]).read_text().split()] if len(sys.argv) > 1 else []
ASKED: dict[str, list[float]] = collections.defaultdict(list)
"""When each issuer's discovery document was requested."""


class Issuers(asyncio.Protocol):
    """One connection. Requests are not pipelined."""

    def connection_made(self, transport) -> None:
        self._transport, self._received = transport, b""

    def data_received(self, octets: bytes) -> None:
        self._received += octets
        if not self._received.endswith(b"\r\n\r\n"):
            return
        path = self._received.split(b" ", 2)[1].decode()
        closes = b"\r\nconnection: close" in self._received.lower()
        self._received = b""
        name = path.split("/")[1]
        if name.startswith("slow-"):
            asyncio.get_running_loop().call_later(DELAY, self._answer, path, name, closes)
        else:
            self._answer(path, name, closes)

    def _answer(self, path: str, name: str, closes: bool) -> None:
        status, body = "200 OK", {}
        if path == "/requests":
            body = _requests()
        elif name.startswith("none-"):
            ASKED[name].append(time.monotonic())
            status = "404 Not Found"
        elif path.endswith("/keys"):
            body = _key_set(int(name.removeprefix("slow-")))
        else:
            ASKED[name].append(time.monotonic())
            body = _discovery(f"http://127.0.0.1:{self._transport.get_extra_info('sockname')[1]}/{name}")
        octets = mint.compact(body)
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(octets)}\r\n\r\n"
        self._transport.write(head.encode() + octets)
        if closes:
            self._transport.close()


def _requests() -> dict:
    """Fetches of documents, of issuers that exist and of others; and the least seconds between two for one issuer."""
    missing = sum(len(times) for name, times in ASKED.items() if name.startswith("none-"))
    gaps = [later - earlier for times in ASKED.values() for earlier, later in zip(times, times[1:])]
    return {"found": sum(map(len, ASKED.values())) - missing, "missing": missing, "least_gap": min(gaps, default=None)}


def _discovery(issuer: str) -> dict:
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "userinfo_endpoint": f"{issuer}/userinfo",
        "jwks_uri": f"{issuer}/keys",
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }


def _key_set(number: int) -> dict:
    """Without a modulus of a signer, any odd number of this length will do as one."""
    numbers = random.Random(number)
    moduli = MODULI[number : number + 1] + [numbers.getrandbits(2048) | 1 << 2047 | 1 for _ in range(3)]
    return {"keys": [mint.rsa_jwk(f"key-{number}-{index}", modulus) for index, modulus in enumerate(moduli[:3])]}


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Issuers, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(serve())
