"""Pools of requests: files that the load generators send line by line, in rotation."""

import dataclasses
import http.client
import json
import pathlib
import secrets

import mint

SIZE = 1000
BATCH = 64


@dataclasses.dataclass(frozen=True)
class Pool:
    """A file whose lines are bodies to POST to `path`, or bearer tokens or header fields to GET it with."""

    file: pathlib.Path
    path: str = "/v1/verify"
    is_bearer: bool = False
    has_fields: bool = False
    """Each line has header fields, with tabs between them."""
    tokens: int = 1
    """The number of tokens in each request."""
    is_single_use: bool = False
    """Each line can be sent only once."""
    status: int = 200
    code: str | None = None
    """The expected error code, if the service must reject the tokens."""

    def lines(self, count: int) -> list[str]:
        with open(self.file) as file:
            return [line.rstrip("\n") for line, _ in zip(file, range(count))]


def ask(port: int, pool: Pool, line: str, timeout: float = 5) -> tuple[int, bytes]:
    """Sends one of a pool's requests."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        if pool.is_bearer:
            connection.request("GET", pool.path, headers={"Authorization": f"Bearer {line}"})
        elif pool.has_fields:
            connection.request("GET", pool.path, headers=dict(field.split(": ", 1) for field in line.split("\t")))
        else:
            connection.request("POST", pool.path, line, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def check(port: int, pool: Pool, count: int = 20) -> None:
    """Raises unless the service answers as the pool expects, so that a benchmark knows what it measures."""
    for line in pool.lines(count):
        status, body = ask(port, pool, line)
        answer = json.loads(body) if body else {}
        codes = [item.get("error", {}).get("code") for item in answer["results"]] if "results" in answer else []
        if status != pool.status or answer.get("code") != pool.code or any(codes):
            raise RuntimeError(f"{pool.file.name}: expected {pool.status} {pool.code or ''}, got {body[:300]!r}")


def body(token: str, nonce: str | None = None, provider: str | None = "apple") -> str:
    members = {"provider": provider, "id_token": token, "nonce": nonce}
    return mint.compact({name: value for name, value in members.items() if value is not None}).decode()


def _altered(text: str, index: int) -> str:
    return text[:index] + ("A" if text[index] != "A" else "B") + text[index + 1 :]


def spoilt_signature(token: str) -> str:
    return _altered(token, token.rindex(".") + 10)


def spoilt_payload(token: str) -> str:
    return _altered(token, token.index(".") + 40)


class Pools:
    """Pools that are made on first use. One key per algorithm signs all tokens."""

    def __init__(self, directory: pathlib.Path):
        self.directory = directory
        self.keys = {
            algorithm: mint.Key(algorithm, key_id)
            for algorithm, key_id in (("RS256", "pyaRQpAbnY"), ("ES256", "ES2026key1"))
        }
        self.key_set = directory / "jwks.json"
        self.key_set.write_bytes(mint.compact({"keys": [key.jwk for key in self.keys.values()]}))
        for algorithm, key in self.keys.items():
            (directory / f"{algorithm}.pem").write_bytes(key.pem)
        self._made: dict[str, Pool] = {}
        self._sign_ins: dict[str, list[tuple[str, str]]] = {}

    def sign_ins(self, algorithm: str) -> list[tuple[str, str]]:
        """Distinct good tokens, each with its raw nonce."""
        if algorithm not in self._sign_ins:
            nonces = [secrets.token_urlsafe(24) for _ in range(SIZE)]
            self._sign_ins[algorithm] = [
                (self.keys[algorithm].token(mint.claims(index, nonce)), nonce) for index, nonce in enumerate(nonces)
            ]
        return self._sign_ins[algorithm]

    def tokens(self, algorithm: str) -> Pool:
        """The good tokens alone, for servers that read no body and for the bare check."""
        return self.add(
            f"{algorithm}.tokens", lambda: [token for token, _ in self.sign_ins(algorithm)], is_bearer=True, path="/"
        )

    def repeated_token(self, algorithm: str) -> Pool:
        """Always the same token, for servers that read no body."""
        return self.add(
            f"{algorithm}.repeated-token", lambda: [self.sign_ins(algorithm)[0][0]], is_bearer=True, path="/"
        )

    def good(self, algorithm: str) -> Pool:
        return self.add(f"{algorithm}.good", lambda: [body(*pair) for pair in self.sign_ins(algorithm)])

    def repeated(self, algorithm: str) -> Pool:
        """Always the same token."""
        return self.add(f"{algorithm}.repeated", lambda: [body(*self.sign_ins(algorithm)[0])])

    def batches(self, algorithm: str) -> Pool:
        def lines() -> list[str]:
            items = [body(*pair) for pair in self.sign_ins(algorithm)]
            starts = range(0, len(items), BATCH // 2)
            return ['{"items":[%s]}' % ",".join((items[at:] + items)[:BATCH]) for at in starts]

        return self.add(f"{algorithm}.batches", lines, path="/v1/verify/batch", tokens=BATCH)

    def refused(self, kind: str) -> Pool:
        """RS256 tokens with one fault each."""
        key = self.keys["RS256"]
        faults = {
            "expired": (
                "token_expired",
                lambda token, index, nonce: key.token(mint.claims(index, nonce, exp=1700000000)),
            ),
            "wrong audience": (
                "audience_mismatch",
                lambda token, index, nonce: key.token(mint.claims(index, nonce, aud="com.example.else")),
            ),
            "bad signature": ("signature_invalid", lambda token, index, nonce: spoilt_signature(token)),
            # As long as a good token, with the fault at the end.
            "malformed": ("token_malformed", lambda token, index, nonce: token[:-1] + "*"),
        }
        code, spoil = faults[kind]
        return self.add(
            f"refused.{kind.replace(' ', '-')}",
            lambda: [
                body(spoil(token, index, nonce), nonce) for index, (token, nonce) in enumerate(self.sign_ins("RS256"))
            ],
            status=422,
            code=code,
        )

    def add(self, name: str, lines, **kind) -> Pool:
        """Returns the pool of a name; makes its lines if the name is new."""
        if name not in self._made:
            file = self.directory / name
            file.write_text("".join(line + "\n" for line in lines()))
            self._made[name] = Pool(file, **kind)
        return self._made[name]
