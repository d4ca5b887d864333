"""Requests over several connections at once, of which each answer counts, whatever it is."""

import asyncio
import collections
import time
from collections.abc import Iterable


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: str) -> int:
    body = line.encode()
    head = f"POST /v1/verify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = next(row for row in answer.split(b"\r\n") if row.lower().startswith(b"content-length:"))
    await reader.readexactly(int(length.split(b":")[1]))
    return int(answer[9:12])


async def _ask(port: int, lines: Iterable[str], connections: int) -> tuple[collections.Counter, list[float]]:
    rest, statuses, latencies = iter(lines), collections.Counter(), []

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for line in rest:
            begun = time.monotonic()
            statuses[await _exchange(reader, writer, line)] += 1
            latencies.append(time.monotonic() - begun)
        writer.close()

    await asyncio.gather(*(client() for _ in range(connections)))
    return statuses, latencies


def ask(port: int, lines: Iterable[str], connections: int) -> tuple[collections.Counter, list[float]]:
    """The number of answers with each status, and the seconds that each took."""
    return asyncio.run(_ask(port, lines, connections))
