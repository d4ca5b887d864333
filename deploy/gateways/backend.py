"""A backend behind a gateway: it tells each caller who they are. It needs only Python's standard library."""

import http.server
import os


class Backend(http.server.BaseHTTPRequestHandler):
    # Closes the connection after each request. A body, which is not read here, must not become the next request.
    protocol_version = "HTTP/1.0"

    def do_GET(self):
        # A missing or empty header means that the user is not signed in. A subject is unique only within its issuer.
        issuer, subject = (self.headers.get(name, "") for name in ("X-Auth-Issuer", "X-Auth-Subject"))
        if issuer and subject:
            self.answer(200, f"You are {subject} of {issuer}.\n")
        else:
            self.answer(401, "You are nobody.\n")

    def answer(self, status: int, text: str) -> None:
        octets = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(octets)))
        self.end_headers()
        self.wfile.write(octets)


def main():
    # Loopback only: anyone who reaches the backend directly can impersonate any user.
    host, port = os.environ.get("LISTEN", "127.0.0.1:8001").rsplit(":", 1)
    with http.server.ThreadingHTTPServer((host, int(port)), Backend) as server:
        print(f"listening on {host}:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
