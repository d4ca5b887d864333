"""The README of each package shows code that runs."""

import re
import sys

import pytest

from client_packages.packages import CLIENTS, CONFORMANCE, run

EXAMPLES = {
    "python": "python/example.py", "typescript": "typescript/example.mts", "go": "go/example.go", "ruby": "ruby/example.rb",
    "php": "php/example.php", "kotlin": "kotlin/Example.kt", "swift": "swift/Sources/Driver/Example.swift",
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_first_example_is_the_conformance_programs(name):
    """Each answer of it is a case."""
    assert (CONFORMANCE / EXAMPLES[name]).read_text() in (CLIENTS / name / "README.md").read_text()


SITES = {"go": "go/site/example.go", "typescript": "typescript/backend.mts", "ruby": "ruby/config.ru"}


@pytest.mark.parametrize("name", SITES)
def test_the_site_is_the_conformance_programs(name):
    """It is compiled with them."""
    code = (CONFORMANCE / SITES[name]).read_text().removesuffix("\nvar _ = backend\n")
    assert code in (CLIENTS / name / "README.md").read_text()


def test_the_rack_site_signs_in():
    code = (CONFORMANCE / "ruby/config.ru").read_text().replace('File.read("/run/secrets/session")', '"s" * 64')
    code = code.replace('Assay.new(api_key_file: "/run/secrets/assay")', "FAKE")
    program = f"""
        require "assay"
        require "rack"
        FAKE = Assay::Fake.new
        FAKE.will(:begin_in_browser, state: "s")
        FAKE.will(:finish_in_browser, context: "/basket")
        site = Rack::Builder.new {{ {code} }}.to_app
        begun = Rack::MockRequest.new(site).get("/sign-in/apple")
        done = Rack::MockRequest.new(site).get("/callback/apple?state=s&code=c", "HTTP_COOKIE" => begun["Set-Cookie"][/[^;]+/])
        puts begun.status, done.status, done["Location"], done["Set-Cookie"].include?("rack.session=")
    """
    assert run("ruby", "-I", CLIENTS / "ruby/lib", "-e", program).split() == ["303", "303", "/basket", "true"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_call_is_listed(name):
    calls = (CLIENTS / name / "README.md").read_text().partition("## Calls")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \| ", calls, re.MULTILINE)
    source = "".join(file.read_text() for file in (CLIENTS / name).rglob("*") if file.suffix in (".py", ".ts", ".go", ".rb", ".php", ".kt", ".swift"))
    assert len(listed) == 12
    assert [call for call in listed if not re.search(rf"(def |func |fun |function |^  |\) ){call}\(", source, re.MULTILINE)] == []


def test_sign_in_with_apple_takes_twenty_lines(monkeypatch):
    monkeypatch.syspath_prepend(str(CLIENTS / "python/src"))
    code = next(block for block in re.findall(r"```python\n(.*?)```", (CLIENTS / "python/README.md").read_text(), re.DOTALL) if "flask" in block)
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    code = code.replace('open("/run/secrets/session").read()', '"the session key"')
    names = {"__name__": "a_site"}
    exec(code.replace("Assay(api_key_file=", "FakeAssay(api_key_file=").replace("import Assay,", "import FakeAssay,"), names)
    fake, browser = names["assay"], names["app"].test_client(use_cookies=False)
    fake._api_key_file = None
    fake.will("begin_in_browser", state="s", authorization_url="https://appleid.apple.com/auth?response_mode=form_post")
    begun = browser.get("/sign-in/apple?return_to=/basket")
    assert begun.status_code == 303 and "__Host-sign-in-s=" in begun.headers["Set-Cookie"]
    assert "SameSite=None" in begun.headers["Set-Cookie"]
    fake.will("finish_in_browser", context="/basket")
    cookie = begun.headers["Set-Cookie"].partition(";")[0]
    finished = browser.post("/callback/apple", data={"state": "s", "code": "c"}, headers={"Cookie": cookie})
    assert (finished.status_code, finished.location) == (302, "/basket")
    assert any(each.startswith("session=") for each in finished.headers.getlist("Set-Cookie"))
    assert fake.requests[0][1]["scopes"] == ["name", "email"]
    sys.modules.pop("assay_client", None)
