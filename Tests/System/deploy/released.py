"""A release, made once for the tests of its files and of installing it."""

import os
import pathlib
import subprocess

import pytest

from harness.service import REPOSITORY, run

DIST = REPOSITORY / "dist"
VERSION = run("--version").stdout.decode().split()[1]
deep = pytest.mark.skipif("ASSAY_DEEP" not in os.environ, reason="takes minutes; scripts/deep runs it")


def output(*command, **options) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY, **options).stdout.strip()


def release() -> pathlib.Path:
    output("scripts/release", "--rehearse", VERSION, timeout=900)
    return DIST
