"""A provider's token or introspection endpoint on loopback, in a process of its own, with prepared responses.

usage: token_endpoint.py ANSWERS SECONDS

A request's code or opaque token is the line number of its response. The delay varies from half to one and a half times SECONDS, so that
requests that arrive together do not stay together.
"""

import asyncio
import pathlib
import random
import re
import sys

NUMBER = re.compile(rb"(?:^|&)(?:code|token)=(\d+)")
LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


class Endpoint(asyncio.Protocol):
    """One connection. Requests are not pipelined."""

    def __init__(self, answers: list[bytes], seconds: float):
        self._answers, self._seconds = answers, seconds
        self._received = b""

    def connection_made(self, transport) -> None:
        self._transport = transport

    def data_received(self, octets: bytes) -> None:
        self._received += octets
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end or len(body) < int(LENGTH.search(head)[1]):
            return
        self._received = b""
        answer = self._answers[int(NUMBER.search(body)[1])]
        if self._seconds:
            pause = self._seconds * random.uniform(0.5, 1.5)
            asyncio.get_running_loop().call_later(pause, self._transport.write, answer)
        else:
            self._transport.write(answer)


async def serve(file: pathlib.Path, seconds: float) -> None:
    answers = [
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(line), line)
        for line in file.read_bytes().splitlines()
    ]
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Endpoint(answers, seconds), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(serve(pathlib.Path(sys.argv[1]), float(sys.argv[2])))
