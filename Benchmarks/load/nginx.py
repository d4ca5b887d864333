"""nginx as in deploy/gateways: it makes an auth subrequest before it forwards each request."""

import pathlib
import time

import pools
from pools import Pool
from processes import Process, Unavailable, free_port, output

SHIPPED = pathlib.Path(__file__).parents[2] / "deploy/gateways/nginx.conf"


class Nginx(Process):
    """Runs two workers on a port of its own; is ready once a pool's first line gets a 200."""

    def __init__(self, directory: pathlib.Path, asked: int, backend: int, pool: Pool):
        self.port = free_port()
        own = directory / f"nginx-{self.port}"
        own.mkdir()
        (own / "key.conf").touch()
        file = own / "nginx.conf"
        file.write_text(self._configuration(own, asked, backend))
        options = ["-p", own, "-c", file, "-e", own / "log", "-g", f"daemon off; pid {own}/pid; error_log {own}/log;"]
        super().__init__(["nginx", *options])
        try:
            self._wait(pool)
        except BaseException:
            self.stop()
            raise

    def _configuration(self, own: pathlib.Path, asked: int, backend: int) -> str:
        text = SHIPPED.read_text()
        paths = "".join(f"{each}_temp_path {own}/{each};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        changes = {
            "worker_processes auto": "worker_processes 2",
            "http {": f"http {{ access_log off; {paths}",
            "listen 8000": f"listen 127.0.0.1:{self.port}",
            "127.0.0.1:8080": f"127.0.0.1:{asked}",
            "127.0.0.1:8001": f"127.0.0.1:{backend}",
            "/etc/nginx/assay-key.conf": f"{own}/key.conf",
        }
        for old, new in changes.items():
            if old not in text:
                raise RuntimeError(f"{SHIPPED} has no {old!r}")
            text = text.replace(old, new)
        return text

    def _wait(self, pool: Pool) -> None:
        deadline = time.monotonic() + 10
        while True:
            try:
                status, body = pools.ask(self.port, pool, pool.lines(1)[0])
            except OSError:
                if not self.is_running() or time.monotonic() > deadline:
                    raise Unavailable("nginx did not start") from None
                time.sleep(0.02)
                continue
            if status != 200:
                raise RuntimeError(f"nginx answered {status}: {body[:200]!r}")
            return

    @staticmethod
    def version() -> str:
        return output("nginx", "-v").removeprefix("nginx version: ")
