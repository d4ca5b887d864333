"""The code that pages show, for tests that run it as pasted."""

import re

from harness.service import REPOSITORY


def shell_blocks(page: str) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", (REPOSITORY / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
