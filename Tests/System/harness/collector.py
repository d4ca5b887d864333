"""An OpenTelemetry collector for tests: strictly parses OTLP/HTTP in JSON, and stores the spans."""

import json
import re
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from . import contract

KINDS = {1: "internal", 2: "server", 3: "client", 4: "producer", 5: "consumer"}
VALUES = {"stringValue": str, "boolValue": bool, "intValue": str, "doubleValue": float, "arrayValue": dict}


class Span:
    """A span, parsed strictly."""

    def __init__(self, span: dict, resource: dict, scope: dict):
        allowed = {"traceId", "spanId", "traceState", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano"}
        allowed |= {"endTimeUnixNano", "attributes", "events", "links", "status"}
        assert set(span) <= allowed, span
        self.raw = span
        self.resource = resource
        self.scope = scope
        self.trace_id = self._id(span["traceId"], 32)
        self.span_id = self._id(span["spanId"], 16)
        self.parent_id = self._id(span["parentSpanId"], 16) if "parentSpanId" in span else None
        self.state = span.get("traceState")
        self.flags = span["flags"]
        self.name = span["name"]
        self.kind = KINDS[span["kind"]]
        self.start = self._time(span["startTimeUnixNano"])
        self.end = self._time(span["endTimeUnixNano"])
        assert self.name and self.start <= self.end
        assert type(self.flags) is int and self.flags & 1, "span is not sampled"
        self.attributes = attributes(span.get("attributes", []))
        self.status = span.get("status", {}).get("code", 0)
        assert self.status in (0, 1, 2)

    @staticmethod
    def _id(text: str, length: int) -> str:
        assert re.fullmatch(f"[0-9a-f]{{{length}}}", text) and text.strip("0"), text
        return text

    @staticmethod
    def _time(text: str) -> int:
        # Protobuf's JSON encoding represents 64-bit integers as strings.
        assert type(text) is str and re.fullmatch(r"[1-9]\d{18}", text), text
        return int(text)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r} {self.attributes}>"


def attributes(pairs: list[dict]) -> dict:
    found = {}
    for pair in pairs:
        assert set(pair) == {"key", "value"} and pair["key"] not in found, pair
        ((kind, value),) = pair["value"].items()
        assert type(value) is VALUES[kind], pair
        found[pair["key"]] = int(value) if kind == "intValue" else value
    return found


class Collector:
    """Listens on loopback, with TLS if there is a context. `answers` has status, body and headers for the next batches."""

    def __init__(self, port: int = 0, context: ssl.SSLContext | None = None):
        self.spans: list[Span] = []
        self.bodies: list[bytes] = []
        self.requests: list[dict] = []
        self.answers: list[tuple[int, bytes, dict]] = []
        self._condition = threading.Condition()
        self._gate = threading.Event()
        self._gate.set()
        self._mistakes: list[str] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer, headers = collector.take(self.path, dict(self.headers), body)
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(answer))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.endpoint = f"{'https' if context else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self._thread.start()

    def take(self, path: str, headers: dict, body: bytes) -> tuple[int, bytes, dict]:
        self._gate.wait(30)
        with self._condition:
            self.requests.append({"path": path, "headers": headers})
            self.bodies.append(body)
            answer = self.answers.pop(0) if self.answers else (200, b"{}", {})
            try:
                spans = self._read(path, headers, body)
                if answer[0] == 200:
                    self.spans += spans
            except Exception as mistake:  # the test reads it
                self._mistakes.append(f"{mistake!r}: {body[:2000]!r}")
                answer = (400, b"", {})
            self._condition.notify_all()
        return answer

    @staticmethod
    def _read(path: str, headers: dict, body: bytes) -> list[Span]:
        assert path == "/v1/traces", path
        assert headers["Content-Type"] == "application/json", headers
        request = contract.strict_json(body)
        assert set(request) == {"resourceSpans"}, request
        spans = []
        for of_resource in request["resourceSpans"]:
            assert set(of_resource) == {"resource", "scopeSpans"}
            resource = attributes(of_resource["resource"]["attributes"])
            for of_scope in of_resource["scopeSpans"]:
                assert set(of_scope) == {"scope", "spans"}
                spans += [Span(span, resource, of_scope["scope"]) for span in of_scope["spans"]]
        assert spans, "empty batch"
        return spans

    def hold(self) -> None:
        """From now on, batches are received but not answered until `release`."""
        self._gate.clear()

    def release(self) -> None:
        self._gate.set()

    def find(self, **expected) -> list[Span]:
        """The spans with these members or attributes, in whose names `_` stands for a dot."""
        assert not self._mistakes, self._mistakes

        def has(span: Span, name: str, value) -> bool:
            if name in vars(span):
                return getattr(span, name) == value
            return {key.replace(".", "_"): kept for key, kept in span.attributes.items()}.get(name) == value

        return [span for span in self.spans if all(has(span, name, value) for name, value in expected.items())]

    def wait_for(self, count: int = 1, timeout: float = 20, **expected) -> list[Span]:
        """Waits for this many spans with these members."""
        with self._condition:
            self._condition.wait_for(lambda: len(self.find(**expected)) >= count, timeout)
            found = self.find(**expected)
        assert len(found) >= count, f"{expected} not seen in time: {self.spans}"
        return found

    def wait_for_batches(self, count: int, timeout: float = 20) -> None:
        with self._condition:
            assert self._condition.wait_for(lambda: len(self.requests) >= count, timeout), len(self.requests)

    def close(self) -> None:
        self.release()
        self.server.shutdown()
        self.server.server_close()
        self._thread.join(5)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def settings(collector: Collector, **more) -> dict:
    """The settings section `tracing` for this collector."""
    return {"otlp_endpoint": collector.endpoint} | more


def rejection(count: int) -> bytes:
    return json.dumps({"partialSuccess": {"rejectedSpans": str(count), "errorMessage": "no"}}).encode()
