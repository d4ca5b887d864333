"""Passes the repository's Markdown files to mkdocs under their own paths, with each file to which they link, and makes the front page."""

import pathlib
import re

from mkdocs.structure.files import File, Files

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Files of the site that are elsewhere in the repository.
MOVED = {"index.md": "docs/site/front.md", "assets/iframe-worker.js": "docs/site/iframe-worker.js"}
QUOTE = re.compile(r"^( *)<!-- (section|code): (\S+), (.+) -->$", re.MULTILINE)
LINK = re.compile(r"(!?)\[([^\]\n]*(?:\[[^\]\n]*\][^\]\n]*)*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)


def on_files(files, config):
    theme = [file for file in files if file.src_dir != config.docs_dir]
    pages = {path for entry in config.nav for path in paths(entry)}
    linked = {path for page in pages for path in links(page) if (ROOT / path).is_file()}
    mine = [File.generated(config, path, abs_src_path=str(source(path))) for path in sorted(pages | linked | {*MOVED})]
    return Files([*theme, *mine])


def on_page_markdown(markdown, page, config, files):
    """Replaces links to directories with their text, because the site has only files."""
    folder = (ROOT / page.file.src_uri).parent

    def unlinked(match):
        return match[2] if (folder / match[3]).is_dir() else match[0]

    return LINK.sub(unlinked, QUOTE.sub(quoted, markdown))


def quoted(match):
    """A section, or its first code, in place of a comment, indented like that."""
    indent, what, page, heading = match.groups()
    text = (ROOT / page).read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1].strip()
    if what == "code":
        section = FENCE.search(section)[0]
    return "\n".join(indent + line if line else "" for line in section.splitlines())


def source(path):
    return ROOT / MOVED.get(path, path)


def paths(entry):
    """The pages below an entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    return [path for each in inner for path in paths(each)]


def links(page):
    """The files to which a page links, as paths in the repository."""
    text = FENCE.sub("", QUOTE.sub(quoted, source(page).read_text(encoding="utf-8")))
    found = [((ROOT / page).parent / match[3]).resolve() for match in LINK.finditer(text)]
    # The pattern for links does not match an image inside a link.
    found += [((ROOT / page).parent / path).resolve() for path in re.findall(r"!\[[^\]]*\]\(([^)\s#:]+)\)", text)]
    return [str(path.relative_to(ROOT)) for path in found if path.is_relative_to(ROOT)]
