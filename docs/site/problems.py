"""Writes docs/problems.md from openapi.yaml, which has every code with its status, title and example, when it occurs and what to do.

    python docs/site/problems.py            writes the page
    python docs/site/problems.py --check    fails if the page is out of date
"""

import pathlib

import generated
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "problems.md"
MARK = "<!-- Generated from openapi.yaml by docs/site/problems.py: do not edit below. -->"


def page() -> str:
    """The expected page. The part above the mark is written by hand."""
    document = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))
    examples = document["components"]["examples"]
    codes = [(code, example["value"]["status"], example["summary"]) for code, example in examples.items()]
    shown = {code: example["value"] for code, example in examples.items()}
    head = PAGE.read_text(encoding="utf-8").split(MARK)[0]
    parts = [head + MARK, "## All codes", "| code | status | title |\n|---|--:|---|"]
    parts[-1] += "".join(f"\n| [`{code}`](#{code}) | {status} | {shown[code]['title']} |" for code, status, _ in codes)
    for code, status, when in codes:
        parts.append(f"## {code}")
        parts.append(f"**{shown[code]['title']}**, HTTP status {status}.")
        parts.append(f"When: {when[0].lower() + when[1:] if when[1:2].islower() else when}.")
        parts.append("What to do: " + examples[code]["description"].replace(" Operator: ", "\n\nOperator: "))
        parts.append(f"Typical `detail`: *{shown[code]['detail'].strip().replace('<', '&lt;')}*")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    generated.main(PAGE, page())
