"""Load on the built service beside the bare signature check, in one run.

usage: load.py ASSAY BARE_VERIFY [--rounds N] [--seconds S] [--out FILE.md]

For RS256 and ES256: requests per second, p50 and p99 as wrk sees them, and the CPU time that the service spent on a request
(user and system time of its process, divided by requests), which is steadier than requests per second where a machine is
shared. Rounds alternate between the service and the bare check; medians are printed.
"""
import argparse
import datetime
import http.client
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
TICKS = os.sysconf("SC_CLK_TCK")
CONNECTIONS = 64

SETTINGS = """
service: {{ listen: "127.0.0.1:0" }}
admin: {{ listen: "127.0.0.1:0" }}
log: {{ requests: {log} }}
verified_token_cache: {{ entries: 0 }}
providers:
  - id: apple
    preset: apple
    algorithms: [RS256, ES256]
    audiences: [com.example.app]
    jwks_file: {keys}
"""


class Service:
    def __init__(self, binary: str, directory: pathlib.Path, logs_requests: bool):
        settings = directory / "assay.yaml"
        settings.write_text(SETTINGS.format(keys=directory / "jwks.json", log=str(logs_requests).lower()))
        self.process = subprocess.Popen(
            [binary, "serve", "--config", str(settings)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.port = None
        keys_are_there = False
        while self.port is None or not keys_are_there:
            line = json.loads(self.process.stderr.readline())
            if line["message"] == "listening" and line["listener"] == "service":
                self.port = int(line["address"].rsplit(":", 1)[1])
            keys_are_there = keys_are_there or line["message"] == "keys changed"
        # From here on nobody reads the log; a shell pipe to /dev/null stands for a collector that keeps up.
        self.drain = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=subprocess.DEVNULL)

    def cpu_seconds(self) -> float:
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory_mib(self) -> float:
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=20)
        self.drain.wait(timeout=20)


def check_one(service: Service, pool: pathlib.Path) -> None:
    """The benchmark must not measure refusals."""
    token, nonce = pool.read_text().splitlines()[0].split("\t")
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=5)
    body = json.dumps({"provider": "apple", "id_token": token, "nonce": nonce})
    connection.request("POST", "/v1/verify", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    if response.status != 200 or answer["token"]["nonce_match"] != "sha256_hex":
        sys.exit(f"the service refused a good token: {answer}")
    connection.close()


def milliseconds(text: str) -> float:
    number, unit = re.match(r"([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def load(service: Service, pool: pathlib.Path, seconds: int) -> dict:
    before = service.cpu_seconds()
    output = subprocess.run(
        ["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", str(HERE / "verify.lua"),
         f"http://127.0.0.1:{service.port}"],
        env={**os.environ, "TOKENS": str(pool)}, capture_output=True, text=True, check=True).stdout
    spent = service.cpu_seconds() - before
    requests = int(re.search(r"(\d+) requests in", output)[1])
    if "Non-2xx" in output:
        sys.exit(f"the service refused tokens under load:\n{output}")
    return {
        "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1]),
        "p50": milliseconds(re.search(r"^\s+50%\s+(\S+)", output, re.M)[1]),
        "p99": milliseconds(re.search(r"^\s+99%\s+(\S+)", output, re.M)[1]),
        "cpu": spent / requests * 1e6,
    }


def circumstances(binary: str) -> str:
    model = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    wrk = subprocess.run(["wrk", "-v"], capture_output=True, text=True).stdout.split("\n")[0].split(" Copyright")[0]
    return (
        f"{datetime.date.today()}, {os.cpu_count()} cores of {model[1] if model else platform.machine()}, "
        f"Linux {platform.release()}, {version}, {wrk}; {CONNECTIONS} connections, 1000 distinct tokens with nonce, "
        "client and service on the same cores.")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("bare")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--out")
    options = parser.parse_args()
    lines = [
        "# Load",
        "",
        "Made by `scripts/bench`. Medians of rounds that alternate between the service and the bare check.",
        "",
        circumstances(options.assay),
        "",
        "| algorithm | request log | requests/s | p50 ms | p99 ms | CPU µs a request | bare check µs | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        subprocess.run([sys.executable, str(HERE / "mint.py"), name], check=True)
        for logs_requests in (False, True):
            service = Service(options.assay, directory, logs_requests)
            idle = service.memory_mib()
            for algorithm in ("RS256", "ES256"):
                pool = directory / f"{algorithm}.tsv"
                check_one(service, pool)
                load(service, pool, 1)
                rounds, bare = [], []
                for _ in range(options.rounds):
                    rounds.append(load(service, pool, options.seconds))
                    bare.append(float(subprocess.run(
                        [options.bare, str(directory / f"{algorithm}.pem"), str(pool), algorithm, "1"],
                        capture_output=True, text=True, check=True).stdout))
                median = {key: statistics.median(entry[key] for entry in rounds) for key in rounds[0]}
                floor = statistics.median(bare)
                lines.append(
                    f"| {algorithm} | {'on' if logs_requests else 'off'} | {median['rate']:.0f} | {median['p50']:.2f} | "
                    f"{median['p99']:.2f} | {median['cpu']:.1f} | {floor:.1f} | {median['cpu'] / floor:.2f} |")
            loaded = service.memory_mib()
            service.stop()
        lines += ["", f"Memory: {idle:.1f} MiB idle, {loaded:.1f} MiB after the load."]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.out:
        pathlib.Path(options.out).write_text(text)


if __name__ == "__main__":
    main()
