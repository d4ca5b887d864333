"""The samples' cookie parsers, each in its own language, with one table: `cookies.json`.

A browser accepts a `__Host-` cookie only from the site itself. A parser that takes another name for it lets other sites plant a
session, or a sign-in. The table's characters are bytes, as servers decode header fields.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from clients.backends import ORIGIN
from clients.languages import CLIENTS, LANGUAGES, environment
from harness.service import REPOSITORY

TABLE = pathlib.Path(__file__).with_name("cookies.json")
CASES = json.loads(TABLE.read_text())
# Programs that print the values found, as JSON. The first argument is the sample, the second is the table.
PYTHON = """
import json, runpy, sys
sample = runpy.run_path(sys.argv[1])
print(json.dumps([sample["cookie_value"](case["header"], case["name"]) for case in json.load(open(sys.argv[2]))]))
"""
NODE = """
import { readFileSync } from "node:fs";
const { cookieValue } = await import(process.argv[1]);
const cases = JSON.parse(readFileSync(process.argv[2], "utf-8"));
console.log(JSON.stringify(cases.map(({ header, name }) => cookieValue(header, name) ?? null)));
process.exit();
"""
GO = """
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
)

func TestCookies(t *testing.T) {
	var cases []struct{ Header, Name string }
	octets, err := os.ReadFile(os.Getenv("TABLE"))
	if err == nil {
		err = json.Unmarshal(octets, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	values := []*string{}
	for _, each := range cases {
		request := http.Request{Header: http.Header{"Cookie": {string(latin1(each.Header))}}}
		values = append(values, nil)
		if value, isThere := cookieValue(&request, each.Name); isThere {
			decoded := ""
			for _, octet := range []byte(value) {
				decoded += string(rune(octet))
			}
			values[len(values)-1] = &decoded
		}
	}
	encoded, _ := json.Marshal(values)
	fmt.Println(string(encoded))
}

func latin1(text string) (octets []byte) {
	for _, each := range text {
		octets = append(octets, byte(each))
	}
	return octets
}
"""


def python(sample: str):
    return lambda built, directory: [sys.executable, "-c", PYTHON, REPOSITORY / sample, TABLE]


def typescript(built, directory) -> list:
    *_, example = built(next(each for each in LANGUAGES if each.name == "typescript"))
    return ["node", "--no-warnings", "--input-type=module", "--eval", NODE, "--", pathlib.Path(example).with_name("web.mjs"), TABLE]


def go(built, directory) -> list:
    shutil.copytree(CLIENTS / "go", directory / "go")
    (directory / "go/web/cookies_test.go").write_text(GO)
    return ["go", "test", "-v", "./web"]


SAMPLES = {
    **{
        sample: python(sample)
        for sample in (
            "deploy/compose/sample.py",
            "deploy/compose/backend.py",
            "docs/clients/apps/web_sign_in.py",
            "docs/clients/python/web.py",
        )
    },
    "docs/clients/typescript/web.mts": typescript,
    "docs/clients/go/web/main.go": go,
}


@pytest.fixture(scope="module", params=SAMPLES)
def found(request, built, tmp_path_factory):
    """What a sample's parser finds in each case."""
    directory = tmp_path_factory.mktemp("cookies")
    command = [str(part) for part in SAMPLES[request.param](built, directory)]
    variables = {"ORIGIN": ORIGIN, "AUDIENCES": "{}", "PORT": "0", "TABLE": str(TABLE)}
    variables |= {"PYTHONPATH": str(CLIENTS / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    folder = directory / "go" if (directory / "go").exists() else directory
    result = subprocess.run(
        command, cwd=folder, env=environment(**variables), capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    values = json.loads(next(line for line in result.stdout.split("\n") if line.startswith("[")))
    return dict(zip((case["case"] for case in CASES), values, strict=True))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_cookie_is_found_by_its_name_alone(found, case):
    assert found[case["case"]] == case["value"]


def test_every_sample_that_reads_cookies_is_here():
    folders = (CLIENTS, REPOSITORY / "deploy")
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file() and file.suffix not in (".md", ".pyc")]
    texts = {str(file.relative_to(REPOSITORY)): file.read_text() for file in files}
    assert {name for name, text in texts.items() if re.search(r"cookie_value\(|cookieValue\(", text)} == set(SAMPLES)
    assert [name for name, text in texts.items() if re.search(r"SimpleCookie|\.Cookie\(|_COOKIE", text)] == []
