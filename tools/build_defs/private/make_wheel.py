"""Packs a wheel: the same inputs give the same bytes, on any machine and at any time.

Owns the layout of the archive and its metadata files. The version comes from the root Cargo.toml,
everything else from pyproject.toml; nothing is written here a second time.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import zipfile
from pathlib import Path
from typing import Any

import tomllib

# the earliest time a ZIP archive can hold
EPOCH = (1980, 1, 1, 0, 0, 0)
FILE_MODE = 0o100644
WHEEL_TEXT = """Wheel-Version: 1.0
Generator: dataset_rt make_wheel
Root-Is-Purelib: false
Tag: {tag}
"""


def metadata_text(project: dict[str, Any], version: str, readme: str) -> str:
    """METADATA, version 2.4, of a [project] table.

    Args:
        project: the table as read from pyproject.toml.
        version: version of the distribution.
        readme: long description in Markdown.

    Returns:
        The text of the file.
    """
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
    ]
    lines += [f"Keywords: {','.join(project['keywords'])}"] if project.get("keywords") else []
    lines += [f"License-Expression: {project['license']}"]
    lines += [f"License-File: {name}" for name in project["license-files"]]
    lines += [f"Classifier: {classifier}" for classifier in project.get("classifiers", [])]
    lines += [
        f"Project-URL: {label}, {url}" for label, url in sorted(project.get("urls", {}).items())
    ]
    lines += [f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in project.get("dependencies", [])]
    for extra, requirements in sorted(project.get("optional-dependencies", {}).items()):
        lines.append(f"Provides-Extra: {extra}")
        lines += [
            f'Requires-Dist: {requirement} ; extra == "{extra}"' for requirement in requirements
        ]
    lines += ["Description-Content-Type: text/markdown", "", readme]
    return "\n".join(lines)


def entry_points_text(project: dict[str, Any]) -> str:
    """entry_points.txt of the commands of a [project] table, empty when there are none."""
    scripts = project.get("scripts", {})
    if not scripts:
        return ""
    return "[console_scripts]\n" + "".join(
        f"{name} = {target}\n" for name, target in sorted(scripts.items())
    )


def write_wheel(out: Path, dist_info: str, files: dict[str, bytes]) -> None:
    """Writes the archive: package files by name, then the .dist-info folder with RECORD last.

    Args:
        out: where to write.
        dist_info: name of the .dist-info folder.
        files: content by path in the archive, without RECORD.
    """
    records = []
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

        def add(name: str, content: bytes) -> None:
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = FILE_MODE << 16
            info.create_system = 3
            archive.writestr(info, content)

        for name in sorted(files, key=lambda name: (name.startswith(dist_info), name)):
            add(name, files[name])
            digest = (
                base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
            )
            records.append(f"{name},sha256={digest},{len(files[name])}")
        records.append(f"{dist_info}/RECORD,,")
        add(f"{dist_info}/RECORD", ("\n".join(records) + "\n").encode())


def main() -> None:
    """Reads the arguments of the drt_wheel macro."""
    parser = argparse.ArgumentParser(fromfile_prefix_chars="@")
    for option in ("out", "cargo", "pyproject", "readme"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    parser.add_argument("--license", type=Path, action="append", required=True)
    for option in ("tag", "root", "generated-root"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()

    project = tomllib.loads(args.pyproject.read_text())["project"]
    version = tomllib.loads(args.cargo.read_text())["workspace"]["package"]["version"]
    dist_info = f"{project['name'].replace('-', '_')}-{version}.dist-info"
    files = {
        str(path).removeprefix(args.generated_root).removeprefix(args.root): path.read_bytes()
        for path in args.files
    }
    files[f"{dist_info}/WHEEL"] = WHEEL_TEXT.format(tag=args.tag).encode()
    files[f"{dist_info}/METADATA"] = metadata_text(
        project, version, args.readme.read_text()
    ).encode()
    for path in args.license:
        files[f"{dist_info}/licenses/{path.name}"] = path.read_bytes()
    if entry_points := entry_points_text(project):
        files[f"{dist_info}/entry_points.txt"] = entry_points.encode()
    write_wheel(args.out, dist_info, files)


if __name__ == "__main__":
    main()
