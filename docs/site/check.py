"""Checks the built site: every link and anchor must resolve, and no page may load anything from another host.

    python docs/site/check.py DIRECTORY
"""

import pathlib
import sys
import urllib.parse
from html.parser import HTMLParser

# Elements that load a URL. `a` is not one: only readers follow links.
LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}


class Page(HTMLParser):
    def __init__(self, file: pathlib.Path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.has_diagram = False
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        # For these, the theme's script would load Mermaid from a CDN.
        self.has_diagram |= "mermaid" in (values.get("class") or "").split()
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag in LOADING and values.get(LOADING[tag]) and values.get("rel") != "canonical":
            self.loads.append(values[LOADING[tag]])


def faults(site: pathlib.Path) -> list[str]:
    pages = {file: Page(file) for file in site.rglob("*.html")}
    found = []
    for file, page in pages.items():
        name = file.relative_to(site)
        if page.has_diagram:
            found.append(f"{name}: a Mermaid diagram would load a script from a CDN; use an image or text")
        for link in page.loads + page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    found.append(f"{name}: loads {link}, which is not part of the site")
                continue
            # Links of the error page are absolute, because it is served for any path.
            base = site if parts.path.startswith("/") else file.parent
            target = (base / urllib.parse.unquote(parts.path).lstrip("/")).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                found.append(f"{name}: {link} leads to no file")
            elif parts.fragment and target in pages:
                if urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                    found.append(f"{name}: {link} leads to no anchor")
    return found


if __name__ == "__main__":
    directory = pathlib.Path(sys.argv[1]).resolve()
    problems = faults(directory)
    print("\n".join(problems) or f"{len(list(directory.rglob('*.html')))} pages: all links and anchors resolve")
    sys.exit(bool(problems))
