"""W. Requests by framing: octets, and the expected result.

`listeners/test_wire.py` has further cases. The body `{"id_token":"x"}` was read exactly to its end if the answer is 422.
"""

import random
import ssl

from harness.client import request_bytes

BODY = b'{"id_token":"x"}'
SMUGGLED = request_bytes("GET", "/livez", headers={"X-Request-Id": "smuggled"})
SECOND = request_bytes("GET", "/livez", headers={"X-Request-Id": "second"})

POST, GET = b"POST /v1/verify HTTP/1.1\r\n", b"GET /livez HTTP/1.1\r\n"
HOST, JSON, LENGTH = b"Host: x\r\n", b"Content-Type: application/json\r\n", b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)


def head(*lines: bytes, first: bytes = POST) -> bytes:
    return first + b"".join(lines) + b"\r\n"


def measured(*lines: bytes, first: bytes = POST) -> bytes:
    """With a matching Content-Length."""
    return head(HOST, JSON, LENGTH, *lines, first=first) + BODY


def chunked(chunks: bytes = CHUNKS, *lines: bytes) -> bytes:
    return head(HOST, JSON, *(lines or [CHUNKED]), first=POST) + chunks


def of_length(value: bytes) -> bytes:
    return head(HOST, JSON, b"Content-Length: " + value + b"\r\n") + BODY


def coded(value: bytes, *lines: bytes) -> bytes:
    return chunked(CHUNKS, b"Transfer-Encoding:" + value + b"\r\n", *lines)


def chunk(size: bytes, end: bytes = b"\r\n", after: bytes = b"\r\n", last: bytes = b"0\r\n\r\n") -> bytes:
    return chunked(size + end + BODY + after + last)


def trailed(trailer: bytes) -> bytes:
    return chunked(CHUNKS[:-2] + trailer + b"\r\n")


def asked(line: bytes, *lines: bytes) -> bytes:
    return head(HOST, *lines, first=line + b"\r\n")


SIZE = b"%x" % len(BODY)

# Answered with one error, after which the connection is closed.
REFUSED = [
    # length
    ("W01", "a length with a comma", of_length(b"16,")),
    ("W01", "a fractional length", of_length(b"16.0")),
    ("W01", "a length with an exponent", of_length(b"1e1")),
    ("W01", "a length with an underscore", of_length(b"1_6")),
    ("W01", "a length behind a vertical tab", of_length(b"\x0b16")),
    ("W01", "a length before a vertical tab", of_length(b"16\x0b")),
    ("W01", "a length in Arabic digits", of_length("١٦".encode())),
    ("W01", "a length of minus nothing", of_length(b"-0")),
    ("W01", "a length that wraps at 64 bits", of_length(b"%d" % (2**64 + len(BODY)))),
    ("W01", "a length that wraps at 32 bits", of_length(b"%d" % (2**32 + len(BODY)))),
    ("W01", "a length of 64 bits", of_length(b"%d" % (2**64 - 1))),
    ("W01", "a length on the next line", of_length(b"\r\n 16")),
    ("W01", "a length and an empty one", of_length(b"16\r\nContent-Length:")),
    ("W01", "an empty length and another", of_length(b"\r\nContent-Length: 16")),
    ("W01", "lengths in two cases", of_length(b"16\r\ncontent-length: 2")),
    # transfer codings
    ("W01", "a coding in quotes", coded(b' "chunked"')),
    ("W01", "a coding with a parameter", coded(b" chunked;q=1")),
    ("W01", "a coding that only begins like chunked", coded(b" chunkedx")),
    ("W01", "a coding behind a vertical tab", coded(b" \x0bchunked")),
    ("W01", "a coding before a vertical tab", coded(b" chunked\x0b")),
    ("W01", "a coding before a NUL", coded(b" chunked\0")),
    ("W01", "a coding before a no-break space", coded(b" chunked\xa0")),
    ("W01", "a coding on the next line", coded(b"\r\n chunked")),
    ("W01", "chunked twice in a list", coded(b" chunked, chunked")),
    ("W01", "chunked and an empty coding", coded(b" chunked,")),
    ("W01", "chunked, then another coding in a line of its own", coded(b" chunked\r\nTransfer-Encoding: x")),
    ("W01", "identity and a length", coded(b" identity", LENGTH)),
    ("W01", "chunked, with a space before the colon", chunked(CHUNKS, b"Transfer-Encoding : chunked\r\n")),
    ("W01", "chunked behind a bare CR, and a length", measured(b"X: y\rTransfer-Encoding: chunked\r\n")),
    ("W01", "chunked behind a bare LF, and a length", measured(b"X: y\nTransfer-Encoding: chunked\r\n")),
    # ends of lines
    ("W01", "bare LF everywhere", measured().replace(b"\r\n", b"\n")),
    ("W01", "bare LF after the request line", measured(first=POST[:-2] + b"\n")),
    ("W01", "bare LF after a field", measured(b"X: y\n")),
    ("W01", "bare LF at the end of the head", (POST + HOST + JSON + LENGTH) + b"\n" + BODY),
    ("W01", "bare CR after a field", measured(b"X: y\r")),
    ("W01", "CR CR LF", measured(b"X: y\r\r\n")),
    ("W01", "LF CR", measured(b"X: y\n\r")),
    # fields
    ("W01", "a first field that is folded", POST + b" X: y\r\n" + HOST + JSON + LENGTH + b"\r\n" + BODY),
    ("W01", "a line of a space", measured(b" \r\n")),
    ("W01", "a field without a colon", measured(b"Content-Length\r\n")),
    ("W01", "a tab before the colon", measured(b"X\t: y\r\n")),
    ("W01", "a control character in a field", measured(b"X: a\x01b\r\n")),
    ("W01", "an escape character in a field", measured(b"X: a\x1bb\r\n")),
    ("W01", "a delete character in a field", measured(b"X: a\x7fb\r\n")),
    ("W01", "a NUL in a field name", measured(b"X\0: y\r\n")),
    ("W01", "a field name that is no ASCII", measured(b"X\xff: y\r\n")),
    ("W11", "a hundred fields and one", head(HOST, b"X: y\r\n" * 100, first=GET)),
    ("W11", "fields that are too large together", head(HOST, b"X: %s\r\n" % (b"y" * 1000) * 20, first=GET)),
    ("W11", "a target that is too long", asked(b"GET /%s HTTP/1.1" % (b"x" * 20_000))),
    ("W11", "a method without end", asked(b"GET" * 5000 + b" / HTTP/1.1")),
    # chunks
    ("W03", "a chunk size with a sign", chunk(b"+" + SIZE)),
    ("W03", "a chunk size behind a space", chunk(b" " + SIZE)),
    ("W03", "a chunk size before a space", chunk(SIZE + b" ")),
    ("W03", "a chunk size before a tab", chunk(SIZE + b"\t")),
    ("W03", "no chunk size", chunk(b"")),
    ("W03", "a chunk size that wraps", chunk(b"1%016x" % len(BODY))),
    ("W03", "a chunk size with an underscore", chunk(b"1_0")),
    ("W03", "a chunk size before a bare LF", chunk(SIZE, end=b"\n")),
    ("W03", "a chunk before a bare LF", chunk(SIZE, after=b"\n")),
    ("W03", "a chunk before a bare CR", chunk(SIZE, after=b"\r")),
    ("W03", "a chunk before two other octets", chunk(SIZE, after=b"xx")),
    ("W03", "a chunk that is longer than its size", chunk(b"2")),
    ("W03", "a last chunk before a bare LF", chunk(SIZE, last=b"0\n\n")),
    ("W03", "trailers that end in a bare LF", chunk(SIZE, last=b"0\r\n\n")),
    ("W03", "an extension with a bare LF", chunk(SIZE + b";\nxx")),
    ("W03", "an extension with a bare CR", chunk(SIZE + b";a\rb")),
    ("W03", "an extension with a line in quotes", chunk(SIZE + b';a="\r\n"')),
    ("W03", "an extension with a NUL", chunk(SIZE + b";a=\0")),
    ("W03", "an extension without a name", chunk(SIZE + b";")),
    ("W03", "a trailer without a name", trailed(b": y\r\n")),
    ("W03", "a trailer without a colon", trailed(b"X\r\n")),
    ("W03", "a trailer with a space before the colon", trailed(b"X : y\r\n")),
    ("W03", "a folded trailer", trailed(b"X: y\r\n z\r\n")),
    ("W03", "a trailer that gives a length", trailed(b"Content-Length: 5\r\n")),
    ("W03", "a trailer that gives a coding", trailed(b"Transfer-Encoding: chunked\r\n")),
    ("W03", "a trailer that gives a host", trailed(b"Host: y\r\n")),
    ("W03", "a trailer that ends the connection", trailed(b"Connection: close\r\n")),
    ("W03", "trailers by the hundred", trailed(b"X: y\r\n" * 101)),
    ("W03", "a trailer that is too long", trailed(b"X: %s\r\n" % (b"y" * 20_000))),
    # versions, targets, hosts
    ("W13", "HTTP/0.9 in words", measured(first=b"POST /v1/verify HTTP/0.9\r\n")),
    ("W13", "HTTP/0.9", b"GET /livez\r\n"),
    ("W13", "HTTP/1.2", measured(first=b"POST /v1/verify HTTP/1.2\r\n")),
    ("W13", "HTTP/1.10", measured(first=b"POST /v1/verify HTTP/1.10\r\n")),
    ("W13", "HTTP/01.1", measured(first=b"POST /v1/verify HTTP/01.1\r\n")),
    ("W13", "HTTP/1,1", measured(first=b"POST /v1/verify HTTP/1,1\r\n")),
    ("W13", "http/1.1", measured(first=b"POST /v1/verify http/1.1\r\n")),
    ("W13", "a space behind the version", measured(first=b"POST /v1/verify HTTP/1.1 \r\n")),
    ("W13", "tabs in the request line", measured(first=b"POST\t/v1/verify\tHTTP/1.1\r\n")),
    ("W13", "a space before the method", b" " + measured()),
    ("W13", "a target in authority form", asked(b"GET x:80 HTTP/1.1")),
    ("W13", "a target without a slash", asked(b"GET livez HTTP/1.1")),
    ("W13", "a target of a backslash", asked(b"GET \\livez HTTP/1.1")),
    ("W13", "a target with a scheme in its path", asked(b"GET x/y://z/livez HTTP/1.1")),
    ("W13", "no target", asked(b"GET  HTTP/1.1")),
    ("W13", "a target with a control character", asked(b"GET /\x01livez HTTP/1.1")),
    ("W13", "a target with a delete character", asked(b"GET /\x7flivez HTTP/1.1")),
    ("W13", "a target that is no ASCII", asked("GET /lïvez HTTP/1.1".encode())),
    ("W13", "the same host twice", head(HOST, HOST, first=GET)),
    ("W13", "two hosts in two cases", head(HOST, b"hOST: y\r\n", first=GET)),
    ("W13", "no field at all", head(first=GET)),
    ("W13", "RTSP", measured(first=b"POST /v1/verify RTSP/1.0\r\n")),
    ("W13", "ICE", measured(first=b"SOURCE /v1/verify ICE/1.0\r\n")),
    ("W13", "an asterisk that is not for OPTIONS", asked(b"GET * HTTP/1.1")),
    ("W13", "an absolute target without a host", asked(b"GET http:///livez HTTP/1.1")),
    ("W13", "an absolute target with a user", asked(b"GET http://x@y/livez HTTP/1.1")),
    ("W13", "an absolute target of a scheme that is none", asked(b"GET 1://x/livez HTTP/1.1")),
    ("W09", "CONNECT to a path", asked(b"CONNECT /livez HTTP/1.1")),
    ("W09", "a method of 33 characters", asked(b"X" * 33 + b" /livez HTTP/1.1")),
    ("W09", "a method with a separator", asked(b"GE(T /livez HTTP/1.1")),
]

WEBSOCKET = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n"
H2C = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"

# Unusual but unambiguous: answered with this status, and so is the next request.
CLEAR = [
    ("W01", "a length with leading zeros", 422, of_length(b"0" * 30 + b"16")),
    ("W01", "a length with spaces around it", 422, of_length(b"  16  ")),
    ("W01", "chunked in capitals", 422, coded(b" CHUNKED")),
    ("W01", "chunked behind a tab", 422, coded(b"\tchunked")),
    ("W01", "chunked without a space", 422, coded(b"chunked")),
    ("W01", "a field that only resembles Transfer-Encoding", 422, measured(b"Transfer_Encoding: chunked\r\n")),
    ("W01", "a field that only resembles Content-Length", 422, measured(b"Content_Length: 2\r\n")),
    (
        "W01",
        "a body that is a request, on GET",
        200,
        head(HOST, b"Content-Length: %d\r\n" % len(SMUGGLED), first=GET) + SMUGGLED,
    ),
    (
        "W01",
        "chunks that are a request, on GET",
        200,
        head(HOST, CHUNKED, first=GET) + b"%x\r\n%s\r\n0\r\n\r\n" % (len(SMUGGLED), SMUGGLED),
    ),
    (
        "W01",
        "a body that is a request, on HEAD",
        405,
        head(HOST, b"Content-Length: %d\r\n" % len(SMUGGLED), first=b"HEAD /livez HTTP/1.1\r\n") + SMUGGLED,
    ),
    (
        "W01",
        "a body that is a request, on an unknown path",
        404,
        head(HOST, b"Content-Length: %d\r\n" % len(SMUGGLED), first=b"POST /x HTTP/1.1\r\n") + SMUGGLED,
    ),
    ("W01", "a length named as a connection option", 422, measured(b"Connection: Content-Length\r\n")),
    ("W01", "blank lines before the request", 422, b"\r\n\r\n" + measured()),
    ("W01", "an empty field at the end", 422, measured(b"X:\r\n")),
    ("W01", "a field of obs-text", 200, head(HOST, b"X: \xff\xfe\r\n", first=GET)),
    ("W03", "a chunk size with leading zeros", 422, chunk(b"0" * 60 + SIZE)),
    ("W03", "a last chunk of many zeros", 422, chunk(SIZE, last=b"000000\r\n\r\n")),
    ("W03", "an extension in quotes", 422, chunk(SIZE + b';a="b;c"')),
    ("W03", "an extension of the last chunk", 422, chunk(SIZE, last=b"0;a=b\r\n\r\n")),
    ("W03", "a chunk for each octet", 422, chunked(b"".join(b"1\r\n%c\r\n" % octet for octet in BODY) + b"0\r\n\r\n")),
    ("W03", "an empty trailer", 422, trailed(b"X:\r\n")),
    ("W03", "fifty trailers", 422, trailed(b"X: y\r\n" * 50)),
    ("W11", "a hundred fields", 200, head(HOST, b"X: y\r\n" * 99, first=GET)),
    ("W11", "a long target", 404, asked(b"GET /%s HTTP/1.1" % (b"x" * 15_000))),
    ("W13", "an asterisk for a target", 404, asked(b"OPTIONS * HTTP/1.1")),
    ("W13", "an absolute target of another host", 200, asked(b"GET http://y/livez HTTP/1.1")),
    ("W13", "an absolute target without a path", 404, asked(b"GET http://x HTTP/1.1")),
    ("W13", "an absolute target whose query looks like a path", 404, asked(b"GET http://x?/livez HTTP/1.1")),
    ("W13", "a target with a fragment", 404, asked(b"GET /livez#x HTTP/1.1")),
    ("W13", "an escaped target", 404, asked(b"GET /%6civez HTTP/1.1")),
    ("W13", "a target with two slashes", 404, asked(b"GET //livez HTTP/1.1")),
    ("W13", "a target with dots", 404, asked(b"GET /v1/../livez HTTP/1.1")),
    (
        "W13",
        "a connection option to upgrade, and nothing to upgrade to",
        200,
        head(HOST, b"Connection: Upgrade\r\n", first=GET),
    ),
    # An upgrade is ignored, and the connection continues unchanged.
    ("W13", "an upgrade to HTTP/2", 200, head(HOST, H2C, first=GET)),
    ("W13", "an upgrade to HTTP/2 with a body", 422, measured(H2C)),
    ("W13", "an upgrade to HTTP/2 with chunks", 422, chunked(CHUNKS, CHUNKED, H2C)),
    ("W13", "an upgrade to a web socket", 200, head(HOST, WEBSOCKET, first=GET)),
    ("W13", "an upgrade that the connection does not name", 200, head(HOST, b"Upgrade: h2c\r\n", first=GET)),
    ("W04", "a go-ahead that is asked for and not waited for", 422, measured(b"Expect: 100-continue\r\n")),
    ("W04", "another expectation", 422, measured(b"Expect: 200-ok\r\n")),
    ("W09", "a method that only servers of files have", 405, asked(b"PROPFIND /livez HTTP/1.1")),
    ("W09", "a method that RTSP has", 405, asked(b"ANNOUNCE /livez HTTP/1.1")),
    ("W09", "a method in lower case", 405, measured(first=b"post /v1/verify HTTP/1.1\r\n")),
    ("W09", "a method of many words", 405, asked(b"GETGETGET /livez HTTP/1.1")),
    ("W09", "a method of 32 characters", 405, asked(b"X" * 32 + b" /livez HTTP/1.1")),
]

# After an answer with this status, the connection is closed.
LAST = [
    ("W13", "HTTP/1.0 without a field", 200, b"GET /livez HTTP/1.0\r\n\r\n"),
    ("W13", "close and keep-alive", 200, head(HOST, b"Connection: keep-alive, close\r\n", first=GET)),
    ("W13", "keep-alive, then close", 200, head(HOST, b"Connection: keep-alive\r\nConnection: close\r\n", first=GET)),
    ("W09", "CONNECT", 404, asked(b"CONNECT x:80 HTTP/1.1")),
    ("W09", "CONNECT with a body", 404, asked(b"CONNECT x:80 HTTP/1.1", b"Content-Length: 5\r\n") + b"hello"),
]


REFUSED += [
    ("W01", "gzip before chunked", coded(b" gzip, chunked")),
    ("W01", "identity before chunked", coded(b" identity, chunked")),
    ("W01", "gzip and chunked in a line each", coded(b" gzip\r\nTransfer-Encoding: chunked")),
    ("W01", "an empty coding and a length", head(HOST, JSON, b"Transfer-Encoding:\r\n", LENGTH) + BODY),
    ("W13", "two hosts in HTTP/1.0", head(HOST, HOST, b"Connection: keep-alive\r\n", first=b"GET /livez HTTP/1.0\r\n")),
]

def client_hello(**versions) -> bytes:
    """The first message of a TLS client."""
    context = ssl.create_default_context()
    for name, version in versions.items():
        setattr(context, name, version)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname="assay.test")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()
    raise AssertionError("no handshake began")


# Clients of other protocols: rejected, or closed without an answer.
STRANGERS = {
    "HTTP/2 with settings": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000006040000000000000300000064"),
    "TLS 1.3": client_hello(),
    "TLS 1.2": client_hello(maximum_version=ssl.TLSVersion.TLSv1_2),
    "SSL 2": bytes.fromhex("802e0100020015000000100100800200800300800400800500800600400700c0") + bytes(16),
    "SSH": b"SSH-2.0-OpenSSH_9.2\r\n",
    "SMTP": b"EHLO x\r\nMAIL FROM:<a@x>\r\n",
    "FTP": b"USER anonymous\r\nPASS x\r\n",
    "Redis": b"*1\r\n$4\r\nPING\r\n",
    "memcached": b"get x\r\nstats\r\n",
    "MQTT": bytes.fromhex("101200044d5154540402003c000678787878787878"),
    "PostgreSQL": bytes.fromhex("0000000804d2162f"),
    "RDP": bytes.fromhex("030000130ee000000000000100080003000000"),
    "SOCKS 5": b"\x05\x01\x00",
    "PROXY protocol 1": b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n" + head(HOST, first=GET),
    "PROXY protocol 2": b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + bytes(12) + head(HOST, first=GET),
    "SIP": b"OPTIONS sip:x SIP/2.0\r\nVia: SIP/2.0/TCP x\r\n\r\n",
    "a web socket's frame": bytes.fromhex("818500000000") + b"hello",
    "a line without end": b"x" * 100_000,
    "NULs": bytes(100_000),
    "blank lines": b"\r\n" * 50_000,
    "nothing": b"",
}


def cut_up(octets: bytes, seed: int) -> list[tuple]:
    """Ways to send the same bytes: at once, one by one if there are few, and in pieces."""
    source = random.Random(seed)
    pieces = [tuple(sorted(source.sample(range(1, len(octets)), min(12, len(octets) - 1)))) for _ in range(2)]
    return [(), *([tuple(range(1, len(octets)))] if len(octets) < 1500 else []), *pieces]


FRAGMENTS = [
    *(bytes([octet]) for octet in b'\r\n\0 \t:;,0f-"\x80'),
    b"\r\n",
    b"\r\n\r\n",
    b"0\r\n\r\n",
    b"chunked",
    b"HTTP/1.1",
    b"Content-Length: 3\r\n",
    b"Connection: close\r\n",
    b"Expect: 100-continue\r\n",
    CHUNKED,
    H2C,
]


def mutants(seed: int, count: int):
    """Requests of the tables above, with octets changed, removed, inserted, doubled, or swapped with another request's."""
    source = random.Random(seed)
    pool = [row[-1] for row in (*REFUSED, *CLEAR, *LAST) if len(row[-1]) < 4000]
    for _ in range(count):
        octets = bytearray(source.choice(pool))
        for _ in range(source.choice([1, 1, 2, 3, 6])):
            at, other = source.randrange(len(octets) + 1), source.choice(pool)
            match source.randrange(7):
                case 0:
                    octets[at : at + 1] = bytes([source.randrange(256)])
                case 1:
                    del octets[at : at + source.choice([1, 2, 10])]
                case 2:
                    octets[at:at] = source.choice(FRAGMENTS)
                case 3:
                    octets[at:at] = octets[at : at + source.randrange(30)]
                case 4:
                    octets[at:at] = other[: source.randrange(60)]
                case 5:
                    octets[at:] = other[source.randrange(len(other)) :]
                case 6:
                    del octets[at:]
        pieces = min(5, max(len(octets) - 1, 0))
        yield bytes(octets), sorted(source.sample(range(1, max(len(octets), 1)), pieces))
