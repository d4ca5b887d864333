"""Reads answers. Unknown members are ignored, so that a newer Assay can add some."""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from typing import Any, TypeVar

from . import models


Part = TypeVar("Part")


class NotAssays(Exception):
    """The answer lacks a member, or one has another type."""


def read(kind: type | None, body: bytes) -> Any:
    """Raises `NotAssays`."""
    if kind is None:
        return None
    try:
        members = json.loads(body)
    except ValueError:
        raise NotAssays from None
    return _model(kind, members)


def part(kind: type[Part], members: Any) -> Part | None:
    """`None` if it is absent, or not Assay's."""
    try:
        made: Part = _model(kind, members)
        return made
    except NotAssays:
        return None


def _model(kind: type, members: Any) -> Any:
    if not isinstance(members, dict):
        raise NotAssays
    return kind(**{name: _value(annotation, members.get(name)) for name, annotation in _fields(kind)})


@functools.cache
def _fields(kind: type) -> list[tuple[str, Any]]:
    hints = typing.get_type_hints(kind, vars(models))
    return [(each.name, hints[each.name]) for each in dataclasses.fields(kind)]


def _value(annotation: Any, value: Any) -> Any:
    if isinstance(annotation, types.UnionType):
        return None if value is None else _value(typing.get_args(annotation)[0], value)
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        return _model(annotation, value)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if type(value) is not (origin or annotation):
        raise NotAssays
    if arguments == (str, str) and not all(isinstance(each, str) for each in value.values()):
        raise NotAssays
    return [_value(arguments[0], each) for each in value] if origin is list else value
