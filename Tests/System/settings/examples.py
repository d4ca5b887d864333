"""The settings that pages and deployments show, by where they are."""

import re
import textwrap

from harness.service import REPOSITORY

# Blocks of YAML that are settings of other programs, by how they begin.
OTHERS = ("# collector.yaml", "# Envoy asks Assay", "on: push", "# yaml-language-server", "# values.yaml", "# Chart.yaml", "# templates/")
MANIFEST = re.compile(r"^apiVersion:", re.MULTILINE)
PLACEHOLDER = re.compile(r"<[^>\n]*digest[^>\n]*>")


def _as_settings(block: str) -> str:
    """A whole file: a page may show a part, and a placeholder for a digest, each a different one."""
    digests = iter("0123456789abcdef")
    block = PLACEHOLDER.sub(lambda _: next(digests) * 64, textwrap.dedent(block))
    if block.lstrip().startswith("- id:"):
        block = "providers:\n" + textwrap.indent(block, "  ")
    if "providers:" not in re.findall(r"^\w+:", block, re.MULTILINE):
        block += "providers: [{ id: a, preset: apple, audiences: [com.example.app] }]\n"
    return block


def examples() -> dict[str, str]:
    found = {}
    for page in [REPOSITORY / "README.md", *REPOSITORY.glob("docs/**/*.md"), *REPOSITORY.glob("deploy/**/*.md")]:
        for number, (_, block) in enumerate(
            re.findall(r"^( *)```ya?ml\n(.*?)^\1```$", page.read_text(), re.MULTILINE | re.DOTALL)
        ):
            if not block.startswith(OTHERS) and not MANIFEST.search(block):
                found[f"{page.relative_to(REPOSITORY)} {number}"] = _as_settings(block)
    for file in REPOSITORY.glob("deploy/**/assay.yaml"):
        found[str(file.relative_to(REPOSITORY))] = file.read_text()
    return found
