"""Writes settings as YAML in a common style. Supports only what settings files need."""

import json
import re

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]*")


def dump(value: dict, indent: str = "") -> str:
    """A mapping in block style, with lists of scalars in brackets."""
    lines = []
    for name, member in value.items():
        if isinstance(member, dict) and member:
            lines += [f"{indent}{name}:", dump(member, indent + "  ")]
        elif isinstance(member, list) and any(isinstance(entry, dict) for entry in member):
            lines.append(f"{indent}{name}:")
            for entry in member:
                if not isinstance(entry, dict):
                    lines.append(f"{indent}  - {_inline(entry)}")
                    continue
                block = dump(entry, indent + "    ")
                lines.append(indent + "  - " + block.removeprefix(indent + "    "))
        else:
            lines.append(f"{indent}{name}: {_inline(member)}")
    return "\n".join(lines)


def _inline(value) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_inline(entry) for entry in value) + "]"
    if isinstance(value, str) and PLAIN.fullmatch(value) and not re.fullmatch(r"[\d._-]+|true|false|null", value, re.I):
        return value
    return json.dumps(value)
