"""A release, made once for the tests of its files and of installing it."""

import os
import pathlib
import re
import subprocess

import pytest

from harness.service import REPOSITORY

DIST = REPOSITORY / "dist"
# `scripts/release` compares it with the program's.
[VERSION] = re.findall(r"^version: (.+)$", (REPOSITORY / "deploy/helm/assay/Chart.yaml").read_text(), re.MULTILINE)
deep = pytest.mark.skipif("ASSAY_DEEP" not in os.environ, reason="takes minutes; scripts/deep runs it")


def output(*command, **options) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY, **options).stdout.strip()


def release() -> pathlib.Path:
    output("scripts/release", "--rehearse", VERSION, timeout=900)
    return DIST
