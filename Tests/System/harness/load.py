"""Verifications in the background of a test."""

import collections
import itertools
import json
import threading

from .client import Connection, ConnectionClosed, request_bytes
from .contract import STATUS


class Load:
    """Sends each provider's tokens in a loop, and keeps every unexpected response.

    `rounds` has the tokens of each provider with their expected results: a code, several codes joined by `|`, or `None`
    for success. In place of a token, there may be all members of a request.
    """

    def __init__(self, address: str, rounds: dict[str, list[tuple[str | dict, str | None]]], threads: int = 2, context=None):
        self.surprises: dict[str, list] = collections.defaultdict(list)
        self.verified = 0
        self._address = address
        self._context = context
        self._rounds: dict[str, tuple[bytes, list[str | None]]] = {}
        for name, round in rounds.items():
            self.change(name, round)
        self._turns = itertools.cycle(self._rounds)
        self._done = collections.Counter()
        self._condition = threading.Condition()
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(threads)]

    def change(self, name: str, round: list[tuple[str | dict, str | None]]) -> None:
        """Replaces a provider's tokens from the next round on."""
        bodies = [token if isinstance(token, dict) else {"id_token": token} for token, _ in round]
        requests = [request_bytes("POST", "/v1/verify", json.dumps(body).encode()) for body in bodies]
        self._rounds[name] = (b"".join(requests), [code for _, code in round])

    @staticmethod
    def _due(codes: str | None) -> list[tuple[int, str | None]]:
        return [(STATUS[code], code) for code in codes.split("|")] if codes else [(200, None)]

    def _run(self) -> None:
        connection = None
        # Leaves CPU time for others.
        while not self._stopped.wait(0.005):
            with self._condition:
                name = next(self._turns)
            octets, expected = self._rounds[name]
            try:
                connection = connection or Connection(self._address, timeout=60, context=self._context)
                connection.send(octets)
                responses = [connection.unchecked_response() for _ in expected]
                wrong = [
                    (code, response)
                    for code, response in zip(expected, responses, strict=True)
                    if (response.status, response.code) not in self._due(code)
                ]
            except (ConnectionClosed, OSError) as error:
                connection, wrong = None, [error]
            with self._condition:
                self.surprises[name] += wrong
                self.verified += len(expected)
                self._done[name] += 1
                self._condition.notify_all()
        if connection:
            connection.close()

    def passes(self, name: str) -> None:
        """Waits for a complete new round of a provider's tokens. Asserts that no response so far was unexpected."""
        with self._condition:
            # The next round to end may already have started.
            goal = self._done[name] + len(self._threads) + 1
            assert self._condition.wait_for(lambda: self._done[name] >= goal, 60), "the load has stopped"
            assert not self.surprises[name]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        for thread in self._threads:
            thread.join()
