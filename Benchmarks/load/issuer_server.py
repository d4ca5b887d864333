"""Many OpenID Providers under one address on loopback, each with three RSA keys of its own, in a process of its own.

usage: issuer_server.py

Prints its port. The issuer with the number N is `http://127.0.0.1:PORT/N`.
"""

import asyncio
import random

import mint


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
        host, number = self._transport.get_extra_info("sockname")[1], path.split("/")[1]
        issuer = f"http://127.0.0.1:{host}/{number}"
        body = mint.compact(_key_set(int(number)) if path.endswith("/keys") else _discovery(issuer))
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        if closes:
            self._transport.close()


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
    """Public keys that nobody can sign with: any odd number of this length will do as a modulus."""
    numbers = random.Random(number)
    return {
        "keys": [
            mint.rsa_jwk(f"key-{number}-{index}", numbers.getrandbits(2048) | 1 << 2047 | 1) for index in range(3)
        ]
    }


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Issuers, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(serve())
