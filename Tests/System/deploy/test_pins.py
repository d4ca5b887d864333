"""Third-party images and packages are pinned to full versions."""

import re
import subprocess

import pytest

from harness.service import REPOSITORY

IMAGE = re.compile(r"^(?:FROM| *(?:- )?image:) +(\S+)", re.MULTILINE)
# A digest, or a version with three numbers; `pause` versions have two.
WHOLE = re.compile(r"@sha256:[0-9a-f]{64}$|:v?\d+\.\d+\.\d+(-[a-z-]+)?$|^registry\.k8s\.io/pause:\d+\.\d+$")
# Built here, or not an image.
OURS = re.compile(r"\$\{ASSAY_IMAGE:-(localhost/)?assay(:[0-9.]+)?\}|scratch")
LOCKS = sorted(file for file in REPOSITORY.glob("*/**/requirements.lock") if ".venv" not in str(file))


def images() -> list[str]:
    # A chart's images are values and templates.
    yaml = [file for file in REPOSITORY.glob("deploy/**/*.yaml") if "helm" not in file.parts]
    files = [REPOSITORY / "deploy/container/Containerfile", *yaml]
    found = {image for file in files for image in IMAGE.findall(file.read_text())}
    return sorted(image for image in found if not OURS.fullmatch(image))


@pytest.mark.parametrize("image", images())
def test_an_image_is_pinned_to_a_full_version(image):
    assert WHOLE.search(image)


@pytest.mark.parametrize("image", ["nginx", "nginx:latest", "nginx:1.28", "swift:6.3-bookworm", "a:1.2.3@sha256:00"])
def test_an_incomplete_version_is_detected(image):
    assert not WHOLE.search(image)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda file: file.parent.name)
def test_every_python_package_has_its_hashes(lock):
    requirements = [line for line in lock.with_suffix(".txt").read_text().splitlines() if line]
    entries = re.findall(r"^(\S+==\S+)(?: ; [^\\]*)? \\\n((?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", lock.read_text(), re.MULTILINE)
    names = {name for name, _ in entries}
    assert len(names) == len(re.findall(r"^[A-Za-z]", lock.read_text(), re.MULTILINE))
    assert {normal(line) for line in requirements} <= names


def normal(requirement: str) -> str:
    """A requirement as written in lock files: the name in lower case with hyphens, without extras."""
    name, version = re.sub(r"\[.*\]", "", requirement).split("==")
    return f"{re.sub('[-_.]+', '-', name).lower()}=={version}"


def test_the_swift_packages_are_the_pinned_ones():
    done = subprocess.run([REPOSITORY / "scripts/pins", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
