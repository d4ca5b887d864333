"""The documentation site, as a release contains it, unpacked and opened in a real browser: as files, and from a web server."""

import functools
import http.server
import json
import re
import subprocess
import sys
import tarfile
import threading

import pytest
from playwright.sync_api import expect

from console.browser import Visit
from console.conftest import chromium, playwright  # noqa: F401 (fixtures)
from harness.service import REPOSITORY

NAME = "assay-docs"
FRONT = REPOSITORY / "docs/site/front.md"


def pack(folder):
    archive = folder / f"{NAME}.tar.gz"
    subprocess.run([REPOSITORY / "scripts/docs", "--archive", archive], check=True, capture_output=True, timeout=300)
    return archive


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return pack(tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def site(archive, tmp_path_factory):
    """The unpacked site."""
    folder = tmp_path_factory.mktemp("site")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / NAME


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server(site):
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(params=["file", "http"])
def front(request, site, server, chromium):  # noqa: F811
    """The front page. Asserts after the test that it has reported no error, and has loaded nothing but the site's files."""
    origin = f"file://{site}" if request.param == "file" else server
    visit = Visit(chromium, f"{origin}/index.html", viewport={"width": 1280, "height": 800})
    yield visit.page
    visit.close()
    assert visit.messages == []
    assert [url for url in visit.requests if not url.startswith((f"{origin}/", "data:"))] == []


def test_the_front_page_shows_the_thing(front):
    expect(front.get_by_role("heading", level=1)).to_contain_text("Assay")
    picture = front.get_by_role("img", name="A token, decoded, next to Assay's verdict").locator("visible=true")
    expect(picture).to_be_in_viewport()
    assert picture.evaluate("each => each.decode().then(() => each.naturalWidth)") > 500


def test_it_comes_as_image_binary_and_package(front):
    shown = {"Image": "docker load", "Binary": "tar -xzf", "Debian package": "apt-get install"}
    for name, command in shown.items():
        front.get_by_text(name, exact=True).locator("visible=true").first.click()
        code = front.locator("pre").filter(has_text=command)
        expect(code).to_be_visible()
        others = [each for each in shown.values() if each != command]
        for other in others:
            expect(front.locator("pre").filter(has_text=other)).to_be_hidden()


def test_a_search_finds_a_page(front):
    front.get_by_role("textbox", name="Search").click()
    front.keyboard.type("oauth2-proxy")
    front.locator("a[href*='docs/moving/oauth2-proxy.html']:has(mark)").first.click()
    expect(front.get_by_role("heading", level=1)).to_contain_text("oauth2-proxy")
    assert "/docs/moving/oauth2-proxy.html" in front.url


def test_every_internal_link_leads_to_a_page(site, front):
    links = front.eval_on_selector_all("a[href]", "all => all.map(each => each.href)")
    inside = {link.split("#")[0].removeprefix(front.url.removesuffix("/index.html").split("#")[0]) for link in links}
    inside = {path.lstrip("/") for path in inside if "://" not in path}
    assert len(inside) > 80
    assert [path for path in inside if not (site / path).exists()] == []


def test_every_page_is_whole_where_it_is_unpacked(site):
    check = [sys.executable, REPOSITORY / "docs/site/check.py", site]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_archive_has_the_same_bytes_twice(archive, tmp_path):
    assert pack(tmp_path).read_bytes() == archive.read_bytes()


def test_the_archive_names_no_place_of_this_machine(site):
    files = [file for file in site.rglob("*") if file.suffix in {".html", ".json", ".js", ".xml"}]
    assert [file.name for file in files if str(REPOSITORY) in file.read_text()] == []


def test_the_archive_has_the_licences_of_its_parts(site):
    assert (site / "LICENSE").read_bytes() == (REPOSITORY / "LICENSE").read_bytes()
    notices = (site / "NOTICES").read_text()
    assert "Permission is hereby granted" in notices and "Martin Donath" in notices
    sources = [source for file in site.rglob("*.js.map") for source in json.loads(file.read_text())["sources"]]
    bundled = set(re.findall(r"node_modules/((?:@[^/]+/)?[^/]+)/", "\n".join(sources)))
    assert "lunr" in bundled
    assert [name for name in bundled if f"- {name}: " not in notices] == []


def test_the_releases_readme_names_pages_of_the_archive(site):
    made = subprocess.run([sys.executable, REPOSITORY / "docs/site/release.py"], check=True, capture_output=True, text=True)
    # The archive's folder has the version in its name.
    pages = re.findall(r"\(`assay-docs-[0-9.]+/(\S+\.html)`\)", made.stdout)
    assert len(pages) >= 6 and "deploy/container/index.html" in pages
    assert [page for page in pages if not (site / page).is_file()] == []


def test_the_front_page_has_no_code_of_its_own():
    """So that a test of the quoted page runs it."""
    assert "```" not in FRONT.read_text()
