"""Wrappers for the subcommands, and `assay dev` as a process."""

import json
import subprocess

from . import client, service


def verify(config, **options: str) -> list[str]:
    """Arguments of `assay verify`, which reads a token on stdin."""
    return [
        "verify",
        "--config",
        str(config),
        *(part for name, value in options.items() for part in ("--" + name, value)),
    ]


def explain(config, *arguments: str) -> list[str]:
    """Arguments of `assay explain`, which reads a token on stdin unless an argument is one."""
    return ["explain", "--config", str(config), *arguments]


def config_check(config) -> list[str]:
    return ["config", "check", "--config", str(config)]


def presets(*arguments: str) -> list[str]:
    """Arguments of `assay presets`, which lists presets, or shows one with parameters as `name=value`."""
    return ["presets", *(["show", *arguments] if arguments else [])]


def healthcheck(address: str, *options: str, ready: bool = False) -> list[str]:
    """Arguments of `assay healthcheck`, which asks a service whether it is alive or ready."""
    return ["healthcheck", "--address", address, *(["--ready"] if ready else []), *options]


DEV = ["dev", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--issuer-listen", "127.0.0.1:0"]
DEV_PROVIDERS = ["apple", "google", "microsoft", "oidc"]
DISCOVERY = "/{}/.well-known/openid-configuration"
TOKEN = "/{}/token"
ROTATE = "/rotate"


class Dev(service.Process):
    """`assay dev`: a service, and the issuers that it trusts."""

    def __init__(self, *options: str):
        # The log has the listeners' addresses.
        super().__init__(*DEV, "--log", *options)
        try:
            # The output means that it is ready.
            self.wait_for(lambda: self.output)
            self.api = client.Client(self.listening("service"))
            self.admin = client.Client(self.listening("admin"))
            self.issuer_address = self.listening("issuer")
            self.issuer = client.Connection(self.issuer_address)
        except BaseException:
            self.kill()
            raise

    def ask_issuer(self, method: str, path: str, body=None, headers: dict | None = None) -> client.Response:
        """Sends a request to the issuer. It is not part of the contract, so the response is not checked."""
        octets = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        self.issuer.send(client.request_bytes(method, path, octets, headers))
        return self.issuer.unchecked_response(method)

    def token(self, provider: str, **request) -> dict:
        response = self.ask_issuer("POST", TOKEN.format(provider), request)
        assert response.status == 200, response
        return response.json

    def printed_commands(self) -> list[str]:
        """The `curl` command lines printed at the start, in order."""
        self.wait_for(lambda: any("curl " in line for line in self.output))
        return [line.split("Try", 1)[1].strip() for line in list(self.output) if "curl " in line]

    def __enter__(self):
        return self

    def __exit__(self, exception, *_):
        try:
            if exception is None:
                self.api.close()
                self.admin.close()
                self.issuer.close()
                self.terminate()
                assert self.wait() == 0
        finally:
            self.kill()


def run_shell(script: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["bash", "-euc", script], capture_output=True, text=True, timeout=service.DEADLINE, check=False
    )
