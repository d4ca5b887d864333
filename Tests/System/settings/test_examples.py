"""The settings in pages and deployments are valid, and `config check` warns of nothing in them but what their text explains."""

import re
import subprocess

import pytest
from settings.examples import examples

from harness import commands
from harness.certificates import Authority
from harness.service import REPOSITORY, run

EXAMPLES = examples()
# What these examples are about needs the warned-of setting; their text says so.
IN_THE_CLEAR = "is reachable from other machines without TLS: API keys can be read on the network"
ONE_PROCESS = "sign_ins has no key_files: a restart invalidates pending sign-ins; set sign_ins.key_files"
# The algorithms of the keys of `client_keys`, by how their lines go on after `use:`. The first that fits counts.
OWN_KEYS = {
    "signature, algorithm: RS256": "RS256", "encryption, algorithms: [RSA-OAEP-256]": "RSA-OAEP-256",
    "signature": "ES256", "encryption": "ECDH-ES",
}  # fmt: skip
EXPLAINED = {
    "deploy/kubernetes/base/shared/assay.yaml": [f"the service {IN_THE_CLEAR}", f"the admin listener {IN_THE_CLEAR}"],
    "deploy/kubernetes/overlays/shared-mutual-tls/assay.yaml": [f"the admin listener {IN_THE_CLEAR}"],
    "deploy/kubernetes/overlays/sidecar-metrics/assay.yaml": [f"the admin listener {IN_THE_CLEAR}"],
    "deploy/compose/assay.yaml": [ONE_PROCESS],
    "docs/clients/browser.md 0": [ONE_PROCESS],
    "docs/getting-started.md 0": [ONE_PROCESS],
    "docs/sign-ins.md 0": [ONE_PROCESS],
    "docs/many-issuers.md 0": [ONE_PROCESS],
    "docs/sign-ins.md 3": [
        "provider apple: nonce.single_use with store memory: every process accepts a nonce once, and again after a restart; "
        "with several instances, set sign_ins.store.url"
    ],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Each file that a setting can name, by the end of the setting's name. None is exposed."""
    directory = tmp_path_factory.mktemp("files")
    authority = Authority(directory)
    pair = authority.server_file("localhost")
    key = directory / "server.key"
    key.write_text(pair.read_text().split("-----BEGIN CERTIFICATE")[0])
    (directory / "secret").write_text("x\n")
    (directory / "keys.json").write_text('{"keys":[]}')
    (directory / "issuers").write_text("https://op.example client\n")
    (directory / "handles.key").write_bytes(run("key", "new").stdout)
    for algorithm in OWN_KEYS.values():
        run("key", "new", "--algorithm", algorithm, str(directory / f"{algorithm}.key"))
    for file in directory.iterdir():
        file.chmod(0o600)
    return {
        "ca_file": authority.certificate_file,
        "certificate_file": pair,
        "key_file": key,
        "secret_file": directory / "secret",
        "password_file": directory / "secret",
        "jwks_file": directory / "keys.json",
        "issuers_file": directory / "issuers",
        "key_files": directory / "handles.key",
    } | {f"use: {use}": directory / f"{algorithm}.key" for use, algorithm in OWN_KEYS.items()}


def with_files(text: str, files: dict) -> str:
    """The settings with files that exist."""

    def existing(match: re.Match) -> str:
        # A key of `client_keys` has one use, which its line names.
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        own = (name for name in files if name.startswith("use:") and name in line)
        name = next(own, None) or next(name for name in files if match[1].endswith(name))
        return f"{match[1]}: {match[2]}{files[name]}"

    return re.sub(r"\b(\w+_files?): (\[?)[^\s,\]}]+", existing, text)


def test_pages_and_deployments_have_examples():
    assert {"deploy/assay.yaml", "docs/access.md 0", "deploy/kubernetes/base/shared/assay.yaml"} <= set(EXAMPLES)
    assert set(EXPLAINED) <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_valid_and_without_risk(name, files, tmp_path):
    file = tmp_path / "assay.yaml"
    file.write_text(with_files(EXAMPLES[name], files))
    result = run(*commands.config_check(file))
    assert result.returncode == 0, result
    warnings = [line.removeprefix("warning: ") for line in result.stdout.decode().splitlines()[:-1] if "only an example" not in line]
    assert warnings == EXPLAINED.get(name, [])


def test_a_file_that_nobody_edited_gets_warnings():
    result = run(*commands.config_check(REPOSITORY / "deploy/assay.yaml"))
    assert result.stdout.decode().splitlines()[:-1] == [
        f"warning: provider {provider}: only an example: {ids}; set your own, or remove the provider"
        for provider, ids in (
            ("apple", "com.example.app, com.example.web"),
            ("google", "1234567890-example.apps.googleusercontent.com"),
            ("example", "https://auth.example.com"),
        )
    ]


def test_a_number_of_presets_is_the_number_of_presets():
    """Numbers are in digits, so that they are found."""
    count = len(run(*commands.presets()).stdout.splitlines())
    listed = subprocess.run(
        ["git", "ls-files", "README.md", "mkdocs.yml", "openapi.yaml", "docs", "deploy"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()
    said = {
        (name, number)
        for name in listed
        if name.endswith((".md", ".yaml", ".yml"))
        for number in re.findall(r"\b(\d+|\w+ty|\w+ty-\w+|\w+teen|ten|eleven|twelve) presets\b", (REPOSITORY / name).read_text())
    }
    assert said, "no page says how many presets there are: remove this test"
    assert {number for _, number in said} == {str(count)}, said
