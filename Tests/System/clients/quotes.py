"""The pages in `docs/clients`, and that about gateways, quote files: a line that is only a link to a file is followed by its
content.

    python Tests/System/clients/quotes.py     updates the quotes in the pages
"""

import pathlib
import re

CLIENTS = pathlib.Path(__file__).resolve().parents[3] / "docs" / "clients"
GATEWAYS = CLIENTS.parent / "gateways.md"
FENCES = {".mts": "ts", ".mjs": "js", ".mod": "go.mod", ".kt": "kotlin", ".rb": "ruby", ".py": "python"}
FENCES |= {".conf": "nginx", ".cfg": "text", "": "text"}
# A line that is only a link, and the code block below it, if there is one already.
QUOTE = re.compile(r"^\[`([^`\n]+)`\]\(\1\)\n(?:\n(```+)[a-z.]*\n.*?^\2\n)?", re.MULTILINE | re.DOTALL)


def pages() -> list[pathlib.Path]:
    return sorted(CLIENTS.rglob("*.md"))


def quoted(page: pathlib.Path) -> list[pathlib.Path]:
    """The files that a page quotes."""
    return [page.parent / name for name, _ in QUOTE.findall(page.read_text())]


def with_quotes(page: pathlib.Path) -> str:
    """The page with up-to-date quotes."""

    def quote(match: re.Match) -> str:
        file = page.parent / match[1]
        fence = FENCES.get(file.suffix, file.suffix[1:])
        return f"[`{match[1]}`]({match[1]})\n\n```{fence}\n{file.read_text()}```\n"

    return QUOTE.sub(quote, page.read_text())


if __name__ == "__main__":
    for page in [*pages(), GATEWAYS]:
        page.write_text(with_quotes(page))
