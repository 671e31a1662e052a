"""The part of JSON Schema that manifest.schema.json uses, and an error for any other keyword."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SCHEMA_FILE = Path(__file__).parents[2] / "proto_format" / "manifest.schema.json"
ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description"}
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def load_schema() -> dict[str, Any]:
    return json.loads(SCHEMA_FILE.read_text())


def faults(value: Any) -> list[str]:
    """What is wrong with a manifest, as paths with the keyword that objects."""
    return list(_faults(load_schema(), value, "$"))


def _is(value: object, name: str) -> bool:
    return isinstance(value, TYPES[name]) and not isinstance(value, bool)


# Whether a value satisfies a keyword; keywords say nothing about values of other types.
CHECKS: dict[str, Callable[[Any, Any], bool]] = {
    "type": lambda wanted, value: any(_is(value, name) for name in _listed(wanted)),
    "const": lambda wanted, value: value == wanted and type(value) is type(wanted),
    "enum": lambda wanted, value: value in wanted,
    "not": lambda wanted, value: any(_faults(wanted, value, "")),
    "pattern": lambda wanted, value: not _is(value, "string") or bool(re.search(wanted, value)),
    "minimum": lambda wanted, value: not _is(value, "number") or value >= wanted,
    "maximum": lambda wanted, value: not _is(value, "number") or value <= wanted,
    "minItems": lambda wanted, value: not _is(value, "array") or len(value) >= wanted,
    "maxItems": lambda wanted, value: not _is(value, "array") or len(value) <= wanted,
    "required": lambda wanted, value: not _is(value, "object") or set(wanted) <= set(value),
}


def _listed(wanted: Any) -> list[Any]:
    return wanted if isinstance(wanted, list) else [wanted]


def _parts(keyword: str, wanted: Any, value: Any, at: str) -> Iterator[tuple[Any, Any, str]]:
    """Schemas below a keyword, with the values they are for."""
    if keyword == "$ref":
        yield load_schema()["$defs"][wanted.removeprefix("#/$defs/")], value, at
    elif keyword == "properties" and _is(value, "object"):
        yield from ((wanted[k], value[k], f"{at}.{k}") for k in wanted if k in value)
    elif keyword == "items" and _is(value, "array"):
        yield from ((wanted, item, f"{at}[{number}]") for number, item in enumerate(value))


def _faults(schema: dict[str, Any], value: Any, at: str) -> Iterator[str]:
    for keyword, wanted in schema.items():
        if keyword in CHECKS:
            if not CHECKS[keyword](wanted, value):
                yield f"{at}: {keyword}"
        elif keyword in {"$ref", "properties", "items"}:
            for part in _parts(keyword, wanted, value, at):
                yield from _faults(*part)
        elif keyword not in ANNOTATIONS:
            raise NotImplementedError(keyword)
