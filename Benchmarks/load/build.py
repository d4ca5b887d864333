"""Builds the parts of the benchmark that are not written in Python."""

import functools
import os
import pathlib
import subprocess

from processes import Unavailable

HERE = pathlib.Path(__file__).parent
PEER_SOURCES = HERE.parent / "peers"


class Builder:
    """Builds each program on first use. One that fails to build is unavailable, with the compiler's output as the reason."""

    def __init__(self, directory: pathlib.Path):
        self.directory = directory.resolve()
        self.directory.mkdir(parents=True, exist_ok=True)

    def _run(self, command: list, directory: pathlib.Path, **environment: str) -> None:
        try:
            run = subprocess.run(
                list(map(str, command)),
                cwd=directory,
                env={**os.environ, **environment},
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise Unavailable(f"{command[0]}: {error.strerror}") from error
        if run.returncode:
            raise Unavailable(f"{command[0]} failed: {' '.join(run.stdout.split())[-300:]}")

    @functools.cache
    def c(self, name: str, *libraries: str) -> pathlib.Path:
        program = self.directory / name
        self._run(["gcc", "-O2", "-Wall", "-Wextra", "-o", program, HERE / f"{name}.c", *libraries], HERE)
        return program

    @functools.cache
    def go(self, name: str) -> pathlib.Path:
        """Uses the libraries from Debian's packages, with their GOPATH."""
        program = self.directory / name
        self._run(
            ["go", "build", "-o", program, "main.go"],
            PEER_SOURCES / name,
            GO111MODULE="off",
            GOPATH="/usr/share/gocode",
            GOCACHE=str(self.directory / "go-cache"),
            GOFLAGS="",
        )
        return program

    @functools.cache
    def swift(self, name: str) -> pathlib.Path:
        scratch = self.directory / "swift"
        self._run(
            ["swift", "build", "-c", "release", "-j", "2", "--product", name, "--scratch-path", scratch],
            PEER_SOURCES / "swift",
        )
        return scratch / "release" / name
