"""The README of each package shows code that runs."""

import json
import pathlib
import re
import sys
import zipfile

import pytest

from client_packages.packages import CLIENTS, CONFORMANCE, PACKAGES, artifact, rack_3, run

EXAMPLES = {
    "python": "python/example.py", "typescript": "typescript/example.mts", "go": "go/example.go", "ruby": "ruby/example.rb",
    "php": "php/example.php", "kotlin": "kotlin/Example.kt", "swift": "swift/Sources/Driver/Example.swift",
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_first_example_is_the_conformance_programs(name):
    """Each answer of it is a case."""
    assert (CONFORMANCE / EXAMPLES[name]).read_text() in (CLIENTS / name / "README.md").read_text()


SITES = ["go/site/example.go", "typescript/backend.mts", "typescript/express.mts", "ruby/config.ru", "php/middleware.php"]


@pytest.mark.parametrize("name", SITES)
def test_the_site_is_the_conformance_programs(name):
    """It is compiled with them."""
    code = (CONFORMANCE / name).read_text().removesuffix("\nvar _ = backend\n")
    assert code in (CLIENTS / name.partition("/")[0] / "README.md").read_text()


@pytest.mark.parametrize("package", [each for each in PACKAGES if each.name == "typescript"])
def test_the_express_site_signs_in(installed, package):
    *node, driver = installed(package)
    begun, finished = json.loads(run(*node, pathlib.Path(driver).with_name("fake-express.mjs")))
    assert begun[0] == 303 and "__Host-sign-in-s=" in begun[2][0] and "SameSite=None" in begun[2][0]
    assert finished[:2] == [303, "/basket"] and any("session=" in each for each in finished[2]) and len(finished[2]) == 2


@pytest.mark.parametrize("package", [each for each in PACKAGES if each.name == "php"])
def test_the_psr_15_site_signs_in(installed, package):
    *command, driver = installed(package)
    get = {"method": "GET", "body": ""}
    asked = [get | {"path": "/sign-in/apple?return_to=/basket", "cookie": ""}]
    asked += [get | {"path": "/callback/apple?state=s&code=c", "cookie": "__Host-sign-in-s=handle"}, get | {"path": "/", "cookie": ""}]
    said = run(*command, pathlib.Path(driver).with_name("site.php"), "fake", stdin="".join(json.dumps(each) + "\n" for each in asked))
    begun, finished, other = map(json.loads, said.splitlines())
    assert begun["status"] == 303 and "__Host-sign-in-s=" in begun["cookies"][0] and "SameSite=None" in begun["cookies"][0]
    assert (finished["status"], finished["location"], len(finished["cookies"])) == (303, "/basket", 1)
    assert other["status"] == 404


def test_the_php_package_installs_as_pasted_into_an_empty_directory(tmp_path):
    """Without the public registry, which nothing here needs."""
    archive = artifact("php", tmp_path, ".zip")
    [script] = re.findall(r"^```sh\n(.*?)^```$", (CLIENTS / "php/README.md").read_text(), re.DOTALL | re.MULTILINE)
    project, home = tmp_path / "project", tmp_path / "composer"
    project.mkdir()
    home.mkdir()
    (home / "config.json").write_text('{"repositories": [{"packagist.org": false}]}')
    pasted = script.replace("/path/to/clients", str(archive.parent))
    run("bash", "-euc", pasted, directory=project, COMPOSER_ALLOW_SUPERUSER="1", COMPOSER_HOME=str(home))
    assert (project / "vendor/assay/client/src").is_dir()


@pytest.mark.parametrize("package", [each for each in PACKAGES if each.name == "kotlin"])
def test_java_compiles_and_the_jar_has_its_pom_where_maven_looks(installed, package, tmp_path):
    command = installed(package)
    path = command[command.index("-cp") + 1]
    [block] = re.findall(r"^```java\n(.*?)^```$", (CLIENTS / "kotlin/README.md").read_text(), re.DOTALL | re.MULTILINE)
    (tmp_path / "Site.java").write_text(f"import assay.*;\nclass Site {{ void finish(String signIn, String idToken) {{\n{block}}} }}\n")
    run("javac", "-cp", path, "-d", tmp_path, tmp_path / "Site.java")
    pom = (CLIENTS / "kotlin/pom.xml").read_bytes()
    [group] = re.findall(rb"^  <groupId>(.+)</groupId>$", pom, re.MULTILINE)
    with zipfile.ZipFile(path.split(":")[0]) as jar:
        assert jar.read(f"META-INF/maven/{group.decode()}/assay-client/pom.xml") == pom


@pytest.mark.parametrize("options", [list, rack_3], ids=["rack", "Rack 3"])
def test_the_rack_site_signs_in(options):
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
        done = Rack::MockRequest.new(site).get("/callback/apple?state=s&code=c", "HTTP_COOKIE" => Array(begun["Set-Cookie"]).first[/[^;]+/])
        puts begun.status, done.status, done["Location"], Array(done["Set-Cookie"]).join.include?("rack.session=")
    """
    assert run("ruby", *options(), "-I", CLIENTS / "ruby/lib", "-e", program).split() == ["303", "303", "/basket", "true"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_call_is_listed(name):
    calls = (CLIENTS / name / "README.md").read_text().partition("## Calls")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \| ", calls, re.MULTILINE)
    source = "".join(file.read_text() for file in (CLIENTS / name).rglob("*") if file.suffix in (".py", ".ts", ".go", ".rb", ".php", ".kt", ".swift"))
    assert len(listed) == 13
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
