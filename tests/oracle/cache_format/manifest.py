"""FORMAT.md, "manifest.json" and "origin.json": decoding and every check on them."""

from __future__ import annotations

import datetime as dt
from typing import Any

from cache_format.arrow_file import RESERVED, WRITTEN_TYPES
from cache_format.hashes import content_digest
from cache_format.json_text import check_checksum, decode_strict, is_digest, is_integer, is_number
from cache_format.refusal import FormatError, OriginalFormatError, UnsupportedError, expect, require

FILE = "manifest.json"
MAX_SHARDS = 1_000_000


def decode_manifest(text: bytes) -> dict[str, Any]:
    """The manifest, checked in the order the format prescribes."""
    manifest = decode_strict(FILE, text)
    require(isinstance(manifest, dict), FILE, "an object")
    # A key that is null counts as absent here: no version of the original writes one.
    if manifest.get("format") is None:
        raise OriginalFormatError(FILE, "original system", found=manifest.get("format_version"))
    expect(FILE, "format", "dataset_rt", manifest["format"])
    version = manifest.get("format_version")
    require(is_integer(version) and version >= 1, FILE, "format_version", version)
    if version > 1:
        raise UnsupportedError(FILE, "format_version", 1, version)
    check_checksum(FILE, text)
    features = field(manifest, "features", dict)
    for kind in ("compatible", "read_only", "incompatible"):
        integer(features, kind)
    if features["incompatible"]:
        raise UnsupportedError(FILE, "incompatible features", 0, features["incompatible"])
    source = field(manifest, "source", dict)
    check_source_name(field(source, "name", str))
    require(isinstance(source.get("version", 0), str | None), FILE, "source.version")
    compression = field(manifest, "compression", dict)
    require(compression.get("algo") in {"none", "lz4"}, FILE, "compression.algo")
    ratio = compression.get("ratio")
    require(is_number(ratio) and ratio >= 0, FILE, "compression.ratio", ratio)
    integer(manifest, "payload_bytes")
    require(1 <= integer(manifest, "sample_count") <= (2**64 - 1) // 32, FILE, "sample_count")
    check_schema(field(manifest, "metadata_schema", list))
    check_files(manifest)
    return manifest


def check_source_name(name: str) -> None:
    """Refuses a name that is not one plain path segment."""
    plain = name not in {"", ".", ".."} and not set(name) & set("/\\\0")
    # Only ASCII letters: other characters that fold to these spell another folder.
    reserved = name.isascii() and name.lower() == "tmp"
    require(plain and not reserved, FILE, "source.name", name)


def check_schema(columns: list[Any]) -> None:
    """Names rise strictly, are free, and have a known type."""
    for column in columns:
        require(isinstance(column, dict), FILE, "metadata_schema", column)
        require(field(column, "type", str) in WRITTEN_TYPES, FILE, "type", column)
        require(field(column, "name", str) not in RESERVED, FILE, "reserved name", column)
    names = [column["name"] for column in columns]
    expect(FILE, "sorted names", sorted(set(names)), names)


def check_files(manifest: dict[str, Any]) -> None:
    """Exactly the files of this format, in order, with the content digest they give."""
    files = field(manifest, "files", list)
    shards = len(files) - 3
    require(1 <= shards <= MAX_SHARDS, FILE, "number of shards", shards)
    paths = ["blocks.bin", "index.bin", "metadata.arrow"]
    paths += [f"shards/{number:06d}.bin" for number in range(shards)]
    for path, entry in zip(paths, files, strict=True):
        require(isinstance(entry, dict), FILE, "files", entry)
        expect(FILE, "path", path, entry.get("path"))
        integer(entry, "bytes")
        require(is_digest(entry.get("xxh3_128")), FILE, "xxh3_128", entry)
    expect(FILE, "length of index.bin", 32 * manifest["sample_count"], files[1]["bytes"])
    listed = [(entry["path"], entry["bytes"], entry["xxh3_128"]) for entry in files]
    digest = content_digest(manifest["sample_count"], listed)
    expect(FILE, "content_digest", digest, manifest.get("content_digest"))


def decode_origin(text: bytes) -> dict[str, Any]:
    """The origin of a cache."""
    file = "origin.json"
    origin = decode_strict(file, text)
    require(isinstance(origin, dict), file, "an object")
    check_checksum(file, text)
    require(isinstance(origin.get("writer_version"), str), file, "writer_version")
    created_at = origin.get("created_at")
    require(isinstance(created_at, str), file, "created_at")
    try:
        when = dt.datetime.strptime(created_at, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError as error:
        raise FormatError(file, "created_at", found=created_at) from error
    expect(file, "created_at", when.strftime("%Y-%m-%dT%H:%M:%SZ"), created_at)
    require(when.year >= 1970, file, "created_at", created_at)
    return origin


def field(fields: dict[str, Any], key: str, kind: type) -> Any:
    """A field of a JSON type."""
    require(isinstance(fields.get(key), kind), FILE, key, fields.get(key))
    return fields[key]


def integer(fields: dict[str, Any], key: str) -> int:
    """A field that is an integer of the format."""
    require(is_integer(fields.get(key)), FILE, key, fields.get(key))
    return fields[key]
