"""The pages in `docs/clients` show the files beside them: under a line that is a link to a file, its whole content.

    python Tests/System/clients/quotes.py     writes the files anew into the pages
"""

import pathlib
import re

CLIENTS = pathlib.Path(__file__).resolve().parents[3] / "docs" / "clients"
FENCES = {".mts": "ts", ".mjs": "js", ".mod": "go.mod", ".kt": "kotlin", ".rb": "ruby", ".py": "python"}
# A line that is a link and nothing else, and the block under it if there is one already.
QUOTE = re.compile(r"^\[`([^`\n]+)`\]\(\1\)\n(?:\n(```+)[a-z.]*\n.*?^\2\n)?", re.MULTILINE | re.DOTALL)


def pages() -> list[pathlib.Path]:
    return sorted(CLIENTS.rglob("*.md"))


def quoted(page: pathlib.Path) -> list[pathlib.Path]:
    """The files that a page shows."""
    return [page.parent / name for name, _ in QUOTE.findall(page.read_text())]


def with_quotes(page: pathlib.Path) -> str:
    """The page as it should be."""

    def quote(match: re.Match) -> str:
        file = page.parent / match[1]
        fence = FENCES.get(file.suffix, file.suffix[1:])
        return f"[`{match[1]}`]({match[1]})\n\n```{fence}\n{file.read_text()}```\n"

    return QUOTE.sub(quote, page.read_text())


if __name__ == "__main__":
    for page in pages():
        page.write_text(with_quotes(page))
