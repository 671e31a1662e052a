"""Packs the source distribution: what maturin needs to build the wheel, the same bytes each time.

Owns the layout of the archive. Version and metadata are the wheel's: PKG-INFO is its METADATA.
"""

from __future__ import annotations

import argparse
import gzip
import io
import tarfile
from pathlib import Path

import tomllib
from make_wheel import metadata_text

# the earliest time that both a wheel and a source distribution can hold: 1980-01-01
EPOCH = 315_532_800


def write_sdist(out: Path, root: str, files: dict[str, bytes]) -> None:
    """Writes the archive, files by name.

    Args:
        out: where to write.
        root: the one folder in the archive, name and version.
        files: content by path below it.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            info = tarfile.TarInfo(f"{root}/{name}")
            info.size = len(files[name])
            info.mtime = EPOCH
            info.mode = 0o644
            archive.addfile(info, io.BytesIO(files[name]))
    with out.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as compressed:
        compressed.write(packed.getvalue())


def main() -> None:
    """Reads the arguments of the drt_sdist rule."""
    parser = argparse.ArgumentParser(fromfile_prefix_chars="@")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tree", required=True, help="the part of each path before the tree's own")
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()

    files = {str(path).partition(args.tree)[2]: path.read_bytes() for path in args.files}
    project = tomllib.loads(files["pyproject.toml"].decode())["project"]
    workspace = tomllib.loads(files["Cargo.toml"].decode())["workspace"]
    version = workspace["package"]["version"]
    files["PKG-INFO"] = metadata_text(project, version, files["README.md"].decode()).encode()
    write_sdist(args.out, f"{project['name']}-{version}", files)


if __name__ == "__main__":
    main()
