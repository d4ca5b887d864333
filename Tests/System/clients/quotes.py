"""Quotes of tested files in the pages of `docs/clients` and a few others.

A line that is only a link to a file is followed by the file's content. If the line ends in `, in part:`, each of the blocks
below it is a part of the file, from its first line to its last, without their common indentation. Blank lines separate
the blocks.

    python Tests/System/clients/quotes.py     updates the quotes in the pages
"""

import pathlib
import re
import textwrap

CLIENTS = pathlib.Path(__file__).resolve().parents[3] / "docs" / "clients"
# Pages elsewhere that quote files.
OTHERS = [CLIENTS.parent / name for name in ("gateways.md", "mcp.md", "many-issuers.md")]
FENCES = {".mts": "ts", ".mjs": "js", ".mod": "go.mod", ".kt": "kotlin", ".rb": "ruby", ".py": "python"}
FENCES |= {".conf": "nginx", ".cfg": "text", "": "text"}
# A line that is only a link, and any code blocks below it.
WHOLE = re.compile(r"^\[`([^`\n]+)`\]\(\1\)\n(?:\n(```+)[a-z.]*\n.*?^\2\n)?", re.MULTILINE | re.DOTALL)
PART = re.compile(r"^\[`([^`\n]+)`\]\(\1\), in part:\n((?:\n```[a-z]*\n.*?^```\n)+)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def pages() -> list[pathlib.Path]:
    return sorted(CLIENTS.rglob("*.md"))


def linked(page: pathlib.Path) -> set[pathlib.Path]:
    """The files that a page links to by name."""
    return {(page.parent / name).resolve() for name in re.findall(r"\[`[^`\n]+`\]\(([^)#:]+)\)", page.read_text())}


def part(file: pathlib.Path, shown: str) -> str:
    """The part of a file with the same first and last lines as the block in a page."""
    first, *_, last = shown.splitlines()
    lines = file.read_text().splitlines()
    for start, line in enumerate(lines):
        margin = line.removesuffix(first)
        if line.endswith(first) and not margin.strip() and margin + last in lines[start:]:
            return textwrap.dedent("\n".join(lines[start : lines.index(margin + last, start) + 1])) + "\n"
    raise LookupError(f"{file}: no part from {first!r} to {last!r}; update these lines of the block in the page")


def with_quotes(page: pathlib.Path) -> str:
    """The page with up-to-date quotes."""

    def fence(name: str) -> str:
        file = page.parent / name
        return FENCES.get(file.suffix, file.suffix[1:])

    def whole(match: re.Match) -> str:
        text = (page.parent / match[1]).read_text()
        return f"[`{match[1]}`]({match[1]})\n\n```{fence(match[1])}\n{text}```\n"

    def parts(match: re.Match) -> str:
        shown = [part(page.parent / match[1], block) for block in BLOCK.findall(match[2])]
        blocks = "".join(f"\n```{fence(match[1])}\n{text}```\n" for text in shown)
        return f"[`{match[1]}`]({match[1]}), in part:\n{blocks}"

    return PART.sub(parts, WHOLE.sub(whole, page.read_text()))


if __name__ == "__main__":
    for page in [*pages(), *OTHERS]:
        page.write_text(with_quotes(page))
