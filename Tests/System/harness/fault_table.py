"""Faults of key servers by name, observed and conceivable."""

import functools
import gzip
import json
import os
import zlib

from .faults import Exchange, Fault, FaultServer
from .tokens import b64url, ec_key, rsa_key

FOREIGN = ec_key("foreign")
LIMIT = 512 * 1024
# When keys with the shortest and the longest lifetime are refreshed, after 75 to 90 % of it.
FIVE_MINUTES, A_DAY = (225, 270), (64800, 77760)


def reply(body=None, status: str = "200 OK", headers: dict | None = None):
    """Sends a well-formed response. The body may be a function of the honest one."""

    def act(exchange: Exchange) -> None:
        made = body(exchange.good) if callable(body) else body
        exchange.answer(made if made is None or isinstance(made, bytes) else json.dumps(made).encode(), status, headers)

    return act


def member(**members):
    """Changes members of the honest document; `None` removes one."""

    def change(good: bytes) -> dict:
        return {name: value for name, value in (json.loads(good) | members).items() if value is not None}

    return reply(change)


def each_key(change):
    """Changes each key of the honest set."""
    return reply(lambda good: {"keys": [change(key) for key in json.loads(good)["keys"]]})


def raw(octets):
    """Sends these bytes, or a function of the honest body, and closes the connection."""
    return lambda exchange: exchange.send(octets(exchange.good) if callable(octets) else octets)


def held(octets=b""):
    """Sends these bytes, and then nothing."""

    def act(exchange: Exchange) -> None:
        exchange.send(octets(exchange.good) if callable(octets) else octets)
        exchange.hold()

    return act


def reset_after(octets):
    def act(exchange: Exchange) -> None:
        exchange.send(octets(exchange.good) if callable(octets) else octets)
        exchange.reset()

    return act


def endless(start: bytes, more: bytes):
    def act(exchange: Exchange) -> None:
        exchange.send(start)
        while True:
            exchange.send(more)

    return act


def encoded(encoding: str, encode=lambda good: good):
    return reply(encode, headers={"Content-Encoding": encoding})


def redirect(location: str | None, status: str = "302 Found"):
    return reply(b"", status, {"Location": location})


def redirects(count: int):
    """Redirects this many times before the honest response. The query counts them."""

    def act(exchange: Exchange) -> None:
        path, _, step = exchange.path.partition("?")
        if int(step or 0) == count:
            exchange.answer()
        else:
            exchange.answer(b"", "307 Temporary Redirect", {"Location": f"{path}?{int(step or 0) + 1}"})

    return act


def redirect_to_itself(exchange: Exchange) -> None:
    exchange.answer(b"", "308 Permanent Redirect", {"Location": exchange.path})


def not_modified_if_asked(exchange: Exchange) -> None:
    """Sends the same ETag with every set, and 304 to every client that sends it."""
    etag = {"ETag": '"always the same"', "Last-Modified": "Wed, 01 Jan 2020 00:00:00 GMT"}
    if "if-none-match" in exchange.headers or "if-modified-since" in exchange.headers:
        exchange.answer(b"", "304 Not Modified", etag | {"Content-Length": None})
    else:
        exchange.answer(headers=etag)


def clear_text_chunks(good: bytes) -> bytes:
    return b"".join(b"1;x=y\r\n" + bytes([octet]) + b"\r\n" for octet in good) + b"0\r\nX-Trailer: x\r\n\r\n"


@functools.cache
def bomb() -> bytes:
    return gzip.compress(bytes(20 * LIMIT))


def padded(good: bytes, length: int) -> bytes:
    return good[:-1] + b',"x":"' + b"x" * (length - len(good) - 7) + b'"}'


def small(key: dict) -> dict:
    return rsa_key("small", 1024).jwk(kid=key["kid"])


def with_duplicate(good: bytes) -> bytes:
    return good[:-1] + b',"\\u006beys":[]}'


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def sized(good: bytes, difference: int = 0) -> bytes:
    return HEAD + b"Content-Length: %d\r\n\r\n" % (len(good) + difference)


BROKEN = Fault(reply(status="500 Internal Server Error"))

CONNECTIONS = {
    "connection refused": Fault(FaultServer.refuse, "listener", phases=("connect",)),
    "connection not accepted": Fault(FaultServer.clog, "listener", slow=True, phases=("connect",)),
    "closed on arrival": Fault(lambda exchange: None, "connection", phases=("http", "connect")),
    "reset on arrival": Fault(Exchange.reset, "connection", phases=("http", "connect")),
    "accepted and left alone": Fault(held(), "connection", slow=True),
    "silence": Fault(held(), slow=True),
}

HTTP = {
    "reset before an answer": Fault(reset_after(b""), phases=("http", "connect")),
    "reset within the head": Fault(reset_after(HEAD), phases=("http", "connect")),
    "reset within the body": Fault(reset_after(lambda good: sized(good) + good[:20]), phases=("http", "connect")),
    "garbage": Fault(raw(lambda good: b"\x16\x03" + os.urandom(4096))),
    "HTTP 0.9": Fault(raw(lambda good: good)),
    "HTTP 2": Fault(raw(bytes.fromhex("000012040000000000000300000064"))),
    "no status": Fault(raw(lambda good: b"HTTP/1.1 OK\r\n\r\n" + good)),
    "status of four digits": Fault(raw(lambda good: b"HTTP/1.1 2000 OK\r\n\r\n" + good)),
    "half a head": Fault(raw(HEAD)),
    "half a head then silence": Fault(held(HEAD), slow=True),
    "a header without a name": Fault(raw(lambda good: HEAD + b": x\r\n\r\n" + good)),
    "a NUL in a header": Fault(raw(lambda good: HEAD + b"X: \0\r\n\r\n" + good)),
    "body shorter than said": Fault(raw(lambda good: sized(good, 100) + good)),
    "body shorter than said then silence": Fault(held(lambda good: sized(good, 100) + good), slow=True),
    "body longer than said": Fault(raw(lambda good: sized(good, -5) + good), phases=("http", "parse")),
    "two lengths": Fault(raw(lambda good: HEAD + b"Content-Length: 9\r\n" + sized(good)[len(HEAD) :] + good)),
    "negative length": Fault(raw(lambda good: HEAD + b"Content-Length: -1\r\n\r\n" + good)),
    "length beyond 64 bits": Fault(raw(lambda good: HEAD + b"Content-Length: 99999999999999999999\r\n\r\n" + good)),
    "chunk size no number": Fault(raw(lambda good: CHUNKED + b"zz\r\n" + good)),
    "chunk size beyond 64 bits": Fault(raw(lambda good: CHUNKED + b"FFFFFFFFFFFFFFFFF\r\n" + good)),
    "chunk longer than said": Fault(raw(lambda good: CHUNKED + b"5\r\n" + good + b"\r\n0\r\n\r\n")),
    "chunks without an end": Fault(raw(lambda good: CHUNKED + b"%x\r\n%s\r\n" % (len(good), good))),
    "endless headers": Fault(endless(HEAD, (b"X-Filler: " + b"x" * 1000 + b"\r\n") * 64)),
    "endless header": Fault(endless(HEAD + b"X-Filler: ", b"x" * 65536)),
    "endless body": Fault(endless(HEAD + b"\r\n", b" " * 65536)),
    "endless chunks": Fault(endless(CHUNKED, b"1\r\n \r\n" * 4096)),
    "endless trailers": Fault(endless(CHUNKED + b"0\r\n", (b"X-Filler: " + b"x" * 1000 + b"\r\n") * 64)),
    "endless continues": Fault(endless(b"", CONTINUE * 2000)),
    "endless hints": Fault(endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 1000)),
    "dripping continues": Fault(lambda exchange: exchange.drip(CONTINUE * 10_000, len(CONTINUE), 0.05), slow=True),
    "dripping head": Fault(lambda exchange: exchange.drip(HEAD + b"X: " + b"x" * 10_000), slow=True),
    "dripping body": Fault(lambda exchange: exchange.drip(sized(exchange.good) + exchange.good), slow=True),
}

STATUSES = {
    "status 500": BROKEN,
    "status 503": Fault(reply(status="503 Service Unavailable")),
    "status 503 for two minutes": Fault(
        reply(status="503 Service Unavailable", headers={"Retry-After": "120"}), put_off=(120, 120)
    ),
    "status 503 for an age": Fault(
        reply(status="503 Service Unavailable", headers={"Retry-After": "99999999999999999999"})
    ),
    "status 429": Fault(reply(status="429 Too Many Requests")),
    "status 429 for a minute": Fault(
        reply(status="429 Too Many Requests", headers={"Retry-After": "60"}), put_off=(60, 60)
    ),
    "status 429 for minus a minute": Fault(reply(status="429 Too Many Requests", headers={"Retry-After": "-60"})),
    "status 404": Fault(reply(status="404 Not Found")),
    "status 401": Fault(reply(status="401 Unauthorized", headers={"WWW-Authenticate": "Basic"})),
    "status 407": Fault(reply(status="407 Proxy Authentication Required"), phases=("http", "connect")),
    "status 202": Fault(reply(status="202 Accepted")),
    "status 204": Fault(reply(b"", "204 No Content", {"Content-Length": None})),
    "status 206": Fault(reply(status="206 Partial Content")),
    "status 304 unasked": Fault(reply(b"", "304 Not Modified", {"Content-Length": None, "ETag": '"x"'})),
    "status 101": Fault(
        reply(b"", "101 Switching Protocols", {"Upgrade": "h2c", "Connection": "Upgrade", "Content-Length": None})
    ),
    "an error page with status 200": Fault(
        reply(b"<html>We will be back soon</html>", headers={"Content-Type": "text/html"}), phases=("parse",)
    ),
}

BODIES = {
    "no body": Fault(reply(b""), phases=("parse",)),
    "an empty object": Fault(reply({}), phases=("parse",)),
    "an array": Fault(reply(lambda good: json.loads(good)["keys"]), phases=("parse",)),
    "no keys": Fault(reply({"keys": []}), phases=("parse",)),
    "keys null": Fault(reply({"keys": None}), phases=("parse",)),
    "keys an object": Fault(reply(lambda good: {"keys": json.loads(good)["keys"][0]}), phases=("parse",)),
    "keys a string": Fault(reply({"keys": "x"}), phases=("parse",)),
    "keys by another name": Fault(reply(lambda good: {"Keys": json.loads(good)["keys"]}), phases=("parse",)),
    "keys of junk": Fault(reply({"keys": [None, 1, "x", {}, []]}), phases=("parse",)),
    "keys of an unknown type": Fault(each_key(lambda key: key | {"kty": "AKP"}), phases=("parse",)),
    "keys of an unknown curve": Fault(each_key(lambda key: key | {"crv": "P-999"}), phases=("parse",)),
    "private keys": Fault(each_key(lambda key: key | {"d": b64url(bytes(32))}), phases=("parse",)),
    "symmetric keys": Fault(
        each_key(lambda key: {"kty": "oct", "k": b64url(bytes(32)), "kid": key["kid"]}), phases=("parse",)
    ),
    "small keys": Fault(each_key(small), phases=("parse",)),
    "keys off their curve": Fault(each_key(lambda key: key | {"y": key["x"]}), phases=("parse",)),
    "keys for encryption": Fault(each_key(lambda key: key | {"use": "enc"}), phases=("parse",)),
    "keys for signing only": Fault(each_key(lambda key: key | {"key_ops": ["sign"]}), phases=("parse",)),
    "a duplicate member": Fault(reply(with_duplicate), phases=("parse",)),
    "bad UTF-8": Fault(reply(lambda good: good.replace(b'"sig"', b'"\xff"')), phases=("parse",)),
    "UTF-16": Fault(reply(lambda good: good.decode().encode("utf-16")), phases=("parse",)),
    "truncated": Fault(reply(lambda good: good[:-2]), phases=("parse",)),
    "trailing bytes": Fault(reply(lambda good: good + b"x"), phases=("parse",)),
    "a number out of range": Fault(reply(lambda good: good[:-1] + b',"x":1e400}'), phases=("parse",)),
    "ten thousand levels": Fault(reply(b'{"keys":' + b"[" * 10_000), phases=("parse",)),
    "two thousand keys": Fault(
        reply(lambda good: {"keys": json.loads(good)["keys"] + [{"kty": "x"}] * 2000}), phases=("parse",)
    ),
    "a byte over 512 KiB": Fault(reply(lambda good: padded(good, LIMIT + 1))),
}

ENCODINGS = {
    "gzip bomb": Fault(encoded("gzip", lambda good: bomb())),
    "gzip of a byte over 512 KiB": Fault(encoded("gzip", lambda good: gzip.compress(padded(good, LIMIT + 1)))),
    "gzip by name only": Fault(encoded("gzip"), phases=("http", "parse")),
    "deflate by name only": Fault(encoded("deflate"), phases=("http", "parse")),
    "gzip cut off": Fault(encoded("gzip", lambda good: gzip.compress(good)[:-12]), phases=("http", "parse")),
    "br unasked": Fault(encoded("br", lambda good: b"\x0b\x02\x80" + good + b"\x03")),
    "zstd unasked": Fault(encoded("zstd", lambda good: b"\x28\xb5\x2f\xfd" + good)),
    "br by name only": Fault(encoded("br")),
    "gzip twice": Fault(encoded("gzip, gzip", lambda good: gzip.compress(gzip.compress(good)))),
}

REDIRECTS = {
    "redirect to itself": Fault(redirect_to_itself, connections=4),
    "four redirects": Fault(redirects(4), connections=4),
    "redirect nowhere": Fault(redirect(None)),
    "redirect to nothing": Fault(redirect(""), phases=("address",)),
    "redirect to a file": Fault(redirect("file:///etc/passwd"), phases=("address",)),
    "redirect to ftp": Fault(redirect("ftp://127.0.0.1/keys"), phases=("address",)),
    "redirect to gopher": Fault(redirect("gopher://127.0.0.1/"), phases=("address",)),
    "redirect to data": Fault(redirect("data:application/json,{}"), phases=("address",)),
    "redirect without a scheme": Fault(redirect("//127.0.0.1/keys"), phases=("address",)),
    "redirect with credentials": Fault(redirect("http://user:secret@127.0.0.1/keys"), phases=("address",)),
    "redirect to a private address": Fault(redirect("http://10.0.0.1/keys"), phases=("address",)),
    "redirect to the metadata address": Fault(redirect("http://169.254.169.254/latest"), phases=("address",)),
    "redirect to loopback by another name": Fault(redirect("http://[::1]:1/keys"), phases=("address",)),
}

# Invalid values of `jwks_uri`.
BAD_ADDRESSES = {
    "a file": "file:///etc/passwd",
    "ftp": "ftp://127.0.0.1/keys",
    "data": "data:application/json,{}",
    "gopher": "gopher://127.0.0.1/",
    "no scheme": "//127.0.0.1/keys",
    "a path": "/op/keys",
    "credentials": "http://user:secret@127.0.0.1/keys",
    "a line break": "http://127.0.0.1/\r\nX: y",
    "a space": "http://127.0.0.1/a b",
    "a backslash": "http://127.0.0.1\\@evil/",
    "port 0": "http://127.0.0.1:0/",
    "port 99999": "http://127.0.0.1:99999/",
    "a private address": "http://10.0.0.1/keys",
}

DISCOVERY = {
    f"jwks_uri with {name}": Fault(member(jwks_uri=address), "discovery", phases=("address",))
    for name, address in BAD_ADDRESSES.items()
} | {
    "jwks_uri that nobody listens at": Fault(
        member(jwks_uri="http://127.0.0.1:1/keys"), "discovery", phases=("connect",)
    ),
    "jwks_uri no string": Fault(member(jwks_uri=5), "discovery", phases=("parse",)),
    "discovery without jwks_uri": Fault(member(jwks_uri=None), "discovery", phases=("parse",)),
    "discovery of another issuer": Fault(member(issuer="https://other.example.com"), "discovery", phases=("parse",)),
    "discovery without an issuer": Fault(member(issuer=None), "discovery", phases=("parse",)),
    "discovery that lists no algorithm of ours": Fault(
        member(id_token_signing_alg_values_supported=["none", "HS256"]), "discovery", connections=2, phases=("parse",)
    ),
    "discovery with a duplicate member": Fault(
        reply(lambda good: good[:-1] + b',"issuer":""}'), "discovery", phases=("parse",)
    ),
    "discovery truncated": Fault(reply(lambda good: good[:-2]), "discovery", phases=("parse",)),
    "discovery an error page": Fault(reply(b"<html>"), "discovery", phases=("parse",)),
    "discovery empty": Fault(reply(b""), "discovery", phases=("parse",)),
    "discovery an array": Fault(reply(b"[]"), "discovery", phases=("parse",)),
    "discovery over 512 KiB": Fault(reply(lambda good: padded(good, LIMIT + 1)), "discovery"),
    "discovery status 500": Fault(reply(status="500 Internal Server Error"), "discovery"),
    "discovery silence": Fault(held(), "discovery", slow=True),
    "keys status 404 after discovery": Fault(reply(status="404 Not Found"), connections=2),
}

READ = {
    "gzip": Fault(encoded("gzip", gzip.compress), effect="read"),
    "deflate": Fault(encoded("deflate", zlib.compress), effect="read"),
    "identity": Fault(encoded("identity"), effect="read"),
    "three redirects": Fault(redirects(3), effect="read", connections=4),
    "just 512 KiB": Fault(reply(lambda good: padded(good, LIMIT)), effect="read"),
    "chunks of a byte": Fault(raw(lambda good: CHUNKED + clear_text_chunks(good)), effect="read"),
    "no length": Fault(raw(lambda good: b"HTTP/1.0 200 OK\r\n\r\n" + good), effect="read"),
    "a continue before the answer": Fault(raw(lambda good: CONTINUE + sized(good) + good), effect="read"),
    "no content type": Fault(reply(headers={"Content-Type": None}), effect="read"),
    "another content type": Fault(reply(headers={"Content-Type": "text/html; charset=utf-16"}), effect="read"),
    "max-age negative": Fault(reply(headers={"Cache-Control": "max-age=-1"}), effect="read"),
    "max-age of an age": Fault(
        reply(headers={"Cache-Control": "max-age=1000000000"}), effect="read", put_off=A_DAY
    ),
    "max-age beyond 64 bits": Fault(
        reply(headers={"Cache-Control": "max-age=" + "9" * 40}), effect="read", put_off=A_DAY
    ),
    "max-age of junk": Fault(reply(headers={"Cache-Control": 'max-age=", ,=;max-age'}), effect="read"),
    "no-store": Fault(reply(headers={"Cache-Control": "no-store, max-age=0"}), effect="read", put_off=FIVE_MINUTES),
    "expired long ago": Fault(reply(headers={"Expires": "0", "Date": "yesterday"}), effect="read"),
    "a date to come": Fault(
        reply(headers={"Expires": "Fri, 31 Dec 9999 23:59:59 GMT", "Date": "Thu, 01 Jan 1970 00:00:00 GMT"}),
        effect="read",
        put_off=A_DAY,
    ),
    "an age beyond 64 bits": Fault(
        reply(headers={"Cache-Control": "max-age=600", "Age": "9" * 40}), effect="read", put_off=FIVE_MINUTES
    ),
    "an ETag that never changes": Fault(not_modified_if_asked, effect="read"),
    "an ETag of 8 KiB": Fault(reply(headers={"ETag": '"' + "x" * 8192 + '"'}), effect="read"),
    "keys unknown among the good": Fault(
        reply(lambda good: {"keys": [{"kty": "AKP", "kid": "x"}, None] + json.loads(good)["keys"]}), effect="read"
    ),
}

OMITS = {
    "a thin set": Fault(reply(lambda good: {"keys": json.loads(good)["keys"][1:]}), effect="omits"),
    "a foreign set": Fault(reply({"keys": [FOREIGN.jwk()]}), effect="omits"),
}

FAULTS = CONNECTIONS | HTTP | STATUSES | BODIES | ENCODINGS | REDIRECTS | DISCOVERY | READ | OMITS
