"""RESULTS.md: the targets first, then a section for each part."""

import dataclasses
import datetime
import os
import pathlib
import platform
import re

from processes import Unavailable, output


@dataclasses.dataclass(frozen=True)
class Bar:
    """A bar of the picture, in microseconds of CPU time."""

    label: str
    cpu: float
    is_ours: bool = False


@dataclasses.dataclass
class Section:
    """The results of a part."""

    title: str
    lines: list[str] = dataclasses.field(default_factory=list)
    figures: dict[str, float] = dataclasses.field(default_factory=dict)
    """The keys are those of `TARGETS`."""
    bars: dict[str, list[Bar]] = dataclasses.field(default_factory=dict)
    floors: dict[str, float] = dataclasses.field(default_factory=dict)
    """The cost of the bare check per algorithm, from the same run as the bars."""
    versions: dict[str, str] = dataclasses.field(default_factory=dict)

    def text(self, *paragraphs: str) -> None:
        for paragraph in paragraphs:
            self.lines += [paragraph, ""]

    def table(self, head: list[str], rows: list[list]) -> None:
        """Left-aligns the first column, and right-aligns the others."""
        self.lines += [_row(head), _row(["---", *["--:"] * (len(head) - 1)]), *map(_row, rows), ""]


def _row(cells: list) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


@dataclasses.dataclass(frozen=True)
class Target:
    key: str
    what: str
    relation: str
    limit: float
    unit: str
    decimals: int = 2

    def shown(self, value: float) -> str:
        return f"{value:.{self.decimals}f} {self.unit}"

    def is_met(self, value: float) -> bool:
        """Compares the rounded figure that the report shows."""
        shown = round(value, self.decimals)
        match self.relation:
            case "<":
                return shown < self.limit
            case "≥":
                return shown >= self.limit
            case _:
                return shown <= self.limit


BARE, GOOD = "× bare check", "× a good token"
TARGETS = [
    Target("RS256 bare", "`POST /v1/verify`, distinct RS256 tokens with nonce", "≤", 2.2, BARE),
    Target("RS256 envoy", "the same, compared with Envoy jwt_authn", "≤", 0.7, "× Envoy"),
    Target("ES256 bare", "`POST /v1/verify`, distinct ES256 tokens with nonce", "≤", 1.4, BARE),
    Target("ES256 envoy", "the same, compared with Envoy jwt_authn", "≤", 0.9, "× Envoy"),
    Target("batch", "`POST /v1/verify/batch` of 64, RS256, per token", "≤", 1.3, BARE),
    Target("expired", "refused: expired", "≤", 1.0, GOOD),
    Target("wrong audience", "refused: wrong audience", "≤", 1.0, GOOD),
    Target("bad signature", "refused: bad signature", "≤", 1.0, GOOD),
    Target("malformed", "refused: malformed", "≤", 0.6, GOOD),
    Target("repeated", "a repeated token, with the verified-token cache", "≤", 1.3, "× bare echo"),
    Target("cores", "throughput on two cores compared with one, batches of 64", "≥", 1.9, "×"),
    Target("begin", "`POST /v1/sign-ins`", "≤", 0.6, GOOD),
    Target("finish memory", "`POST /v1/sign-ins/finish`, store in memory", "≤", 1.2, GOOD),
    Target("finish Valkey", "the same with Valkey, without Valkey's own CPU time", "≤", 1.6, GOOD),
    Target("finish rate", "finishes a second with Valkey", "≥", 10000, "a second", 0),
    Target("exchange", "`POST /v1/sign-ins/finish` that exchanges a code, Apple's client secret cached", "≤", 4, GOOD),
    Target("exchange growth", "memory kept after 1,000 exchanges in flight, from the first time to the last", "≤", 5, "MB", 1),
    Target("exchange verify", "p99 of `POST /v1/verify` beside 1,000 exchanges in flight", "≤", 2, "× alone"),
    Target("entry", "memory of a finished sign-in, store in memory", "≤", 150, "bytes", 0),
    Target("gateway repeated", "forward-auth, a repeated token", "≤", 1.2, "× bare echo"),
    Target("gateway envoy", "the same, compared with Envoy jwt_authn and its token cache", "<", 1, "× Envoy"),
    Target("gateway distinct", "forward-auth, distinct RS256 tokens", "≤", 2.2, BARE),
    Target("gateway nginx", "nginx and Assay, at 70 % of the peak rate with a constant answer", "≤", 1.15, "× constant"),
    Target("p99", "p99 at 64 connections, 70 % of the peak rate, keys refreshed every second", "≤", 3, "ms"),
    Target("outlier", "the longest of these answers", "≤", 20, "ms", 1),
    Target("goodput", "goodput at three times the capacity", "≥", 0.9, "× peak"),
    Target("goodput p99", "p99 of those answers, with the default `limits.queue_timeout` of 500 ms", "≤", 750, "ms", 0),
    Target("idle", "memory, idle", "≤", 25, "MB", 1),
    Target("growth", "memory, growth after warm-up, distinct tokens", "≤", 0.1, "MB per million requests"),
    Target("start", "from exec to the first 200, keys from disk", "≤", 50, "ms", 1),
    Target("issuers start", "3,000 entries with one issuer each, until ready", "≤", 5, "s", 1),
    Target("issuers memory", "their memory", "≤", 120, "MB", 0),
    Target("issuers threads", "their threads, without two a core", "≤", 24, "threads", 0),
    Target("issuers reload", "a reload that adds one to them", "≤", 2, "s", 1),
    Target("list start", "a list of 10,000 issuers, nothing fetched, until ready", "≤", 1, "s"),
    Target("list memory", "its memory", "≤", 12, "MB above one issuer", 1),
    Target("list each", "memory of an issuer in use, two loops", "≤", 24, "KiB", 1),
    Target("list used", "memory with 10,000 in use", "≤", 300, "MB", 0),
    Target("list threads", "threads then, without two a core", "≤", 24, "threads", 0),
    Target("list metrics", "`/metrics` then", "≤", 100, "KB", 0),
    Target("list of 10,000", "a verification with 10,000 issuers in use", "≤", 1.25, "× one"),
    Target("list of 100", "a verification with 100 issuers in use", "≤", 1.05, "× one"),
    Target("line reload", "a line of the list that changes, from when it is read to the first token", "≤", 1, "s"),
    Target("line fetches", "other issuers' documents fetched for it", "≤", 0, "fetches", 0),
    Target("first uses", "300 first uses at once that are verified, of issuers that take 100 ms", "≥", 1, "of all"),
    Target("first uses p99", "p99 of another provider meanwhile", "≤", 2, "× that of an Assay without them"),
    Target("missing growth", "memory, the second half of 100,000 issuers that don't exist", "≤", 1, "MB", 1),
    Target("missing p99", "p99 of another provider meanwhile", "≤", 2, "× that of an Assay without them"),
    Target("missing dropped", "good issuers dropped for them", "≤", 0, "issuers", 0),
    Target("haproxy", "on a par with HAProxy jwt_verify, the worse of both algorithms", "≤", 1.05, "× HAProxy"),
    *(
        Target(name, f"ahead of {label}, the worse of both algorithms", "<", 1, f"× {label}")
        for name, label in (
            ("go-oidc", "Go, go-oidc"),
            ("golang-jwt", "Go, golang-jwt"),
            ("node", "Node crypto"),
            ("uvicorn", "PyJWT, uvicorn"),
            ("granian", "PyJWT, granian"),
            ("apache", "Apache mod_oauth2"),
            ("jwtkit", "jwt-kit, Hummingbird"),
        )
    ),
]


def summary(figures: dict[str, float]) -> list[str]:
    rows = [["", "target", "measured", ""], ["---", "---", "--:", "---"]]
    for target in TARGETS:
        value = figures.get(target.key)
        verdict = "not measured" if value is None else "met" if target.is_met(value) else "**missed**"
        rows.append(
            [
                target.what,
                f"{target.relation} {target.limit:g} {target.unit}",
                "" if value is None else target.shown(value),
                verdict,
            ]
        )
    return [*map(_row, rows), ""]


def circumstances(assay: pathlib.Path, command: str, options, noise: str, versions: dict[str, str]) -> list[str]:
    model = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    system = re.search(r'PRETTY_NAME="(.+)"', pathlib.Path("/etc/os-release").read_text())
    memory = re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())
    rows = [
        ("date", datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")),
        (
            "machine",
            f"{os.cpu_count()} cores of {model[1] if model else platform.machine()}, "
            f"{int(memory[1]) * 1024 / 1e9:.0f} GB, {system[1] if system else platform.system()}, Linux "
            f"{platform.release()}",
        ),
        ("how", f"`{command}`: rounds of {options.seconds:g} s, {options.rounds} of each"),
        *([("noise", noise)] if noise else []),
        ("Assay", f"{output(str(assay), '--version')}"),
        ("load", f"{_wrk_version()}, on the same cores as the servers"),
        *versions.items(),
    ]
    return [_row(["", ""]), _row(["---", "---"]), *(_row(list(row)) for row in rows), ""]


def _wrk_version() -> str:
    try:
        return output("wrk", "-v").split("\n")[0].split(" Copyright")[0]
    except Unavailable:
        return "wrk is missing"


def page(
    sections: dict[str, Section], failures: dict[str, str], warning: str, head: list[str], has_picture: bool
) -> str:
    figures = {key: value for section in sections.values() for key, value in section.figures.items()}
    lines = [
        "# Last benchmark run",
        "",
        "Written by `scripts/bench`; do not edit. Server CPU time is the user and system time of the server's whole",
        "process tree, divided by the number of tokens in requests. Machines are noisy, so contenders take turns in",
        "every round. Figures are medians of the rounds, and ratios are medians of the rounds' ratios.",
        "",
        "## Targets",
        "",
        *summary(figures),
    ]
    if warning:
        lines += [warning, ""]
    if failures:
        lines += ["Parts that failed:", "", *(f"- **{name}**: {reason}" for name, reason in failures.items()), ""]
    if has_picture:
        lines += ["![Server CPU time per request](load.svg)", ""]
    for section in sections.values():
        lines += [f"## {section.title}", "", *section.lines]
    lines += ["## Circumstances", "", *head]
    return "\n".join(lines).rstrip("\n") + "\n"
