"""Links the native module of a release against the C library of an older system.

Usage: link_native.py --library=ARCHIVE --out=MODULE --target=TRIPLE.GLIBC --name=MODULE_NAME

Owns the linker's command line. The archive holds all Rust code, the standard library included. The
linker is zig's: it brings the list of symbols of every C library, so the module asks for none that
is newer than its target says, whatever machine this runs on. Nothing but the module's entry point
is exported: the unwinder that is linked in serves this module alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def command(zig: Path, args: argparse.Namespace, exports: Path) -> list[str]:
    """The command line of the linker.

    Args:
        zig: the program.
        args: what main() was given.
        exports: the list of exported symbols.

    Returns:
        Program and arguments.
    """
    return [
        *(str(zig), "cc", "-target", args.target, "-shared", "-o", args.out),
        f"-Wl,-soname,{args.name}.abi3.so",
        f"-Wl,-u,PyInit_{args.name}",
        args.library,
        f"-Wl,--version-script={exports}",
        "-Wl,--gc-sections",
        # symbols and debug information: they name folders of the machine that linked
        "-Wl,--strip-all",
        "-lunwind",
    ]


def exports_text(name: str) -> str:
    """A version script: it exports the entry point of a Python module and hides all else."""
    return f"{{ global: PyInit_{name}; local: *; }};\n"


def main() -> int:
    """Reads the arguments of the drt_release_module rule and returns the linker's exit code."""
    parser = argparse.ArgumentParser()
    for option in ("library", "out", "target", "name"):
        parser.add_argument(f"--{option}", required=True)
    args = parser.parse_args()

    import ziglang

    with tempfile.TemporaryDirectory() as folder:
        exports = Path(folder, "exports")
        exports.write_text(exports_text(args.name))
        caches = {
            "ZIG_GLOBAL_CACHE_DIR": f"{folder}/cache",
            "ZIG_LOCAL_CACHE_DIR": f"{folder}/cache",
        }
        line = command(Path(ziglang.__file__).with_name("zig"), args, exports)
        return subprocess.call(line, env={**os.environ, **caches})


if __name__ == "__main__":
    sys.exit(main())
